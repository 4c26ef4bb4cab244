import type { TestApp } from './app.ts'

/** Rows as lines of JSON. */
export const ndjsonOf = (rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('')

/** The lines of an answer. */
export const linesOf = (body: string): Array<Record<string, unknown>> =>
  body.split('\n').slice(0, -1).map((line) => JSON.parse(line))

/** A result in a few words: `created`, or `refused /email taken`. */
export function wordsOf ({ status, problem }: Record<string, unknown>): string {
  const errors: Array<Record<string, unknown>> = Object(problem)['errors'] ?? []
  const faults = errors.map(({ pointer, code }) => `${pointer} ${code}`)
  return [status, ...faults, ...problem !== undefined && errors.length === 0 ? [Object(problem)['code']] : []].join(' ')
}

/** Sends rows to be imported; returns each result in words, and the summary. */
export async function importWords (
  call: TestApp['call'],
  query: string,
  payload: string | Buffer,
  type = 'application/x-ndjson'
) {
  const response = await call('POST', `/users/import?report=all&${query}`, {
    headers: { 'content-type': type }, payload
  })
  if (response.statusCode !== 200) {
    const { code, errors = [] } = response.json()
    return { status: response.statusCode, code, errors }
  }
  const lines = linesOf(response.body)
  const summary = lines.pop()?.['summary']
  return { lines, words: lines.map((line) => `${line['line']} ${wordsOf(line)}`), summary }
}
