import { includes } from '../levels.mjs'

/** Why a test that belongs to a later level is skipped in this run; false if it runs. */
export function from (level: 'ci' | 'nightly'): string | false {
  return !includes(process.env['TEST_LEVEL'] ?? 'nightly', level) && `it belongs to npm run test:${level}`
}
