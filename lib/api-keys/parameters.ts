import { flagParameter, type Parameters } from '../core/parameters.ts'

/** The query parameters of revocations. */
export const revokeParameters: Parameters = {
  force: flagParameter('Revoke even the last key that can manage keys.'),
  successors: flagParameter('Revoke every key that came from it by rotation too.')
}
