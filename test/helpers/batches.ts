import type { Call } from './app.ts'

/** The id of nobody. */
export const NOBODY = 'usr_01h455vb4pex5vsknk084sn02q'
export const ann = { name: 'Ann', email: 'ann@example.org' }
export const bob = { name: 'Bob', email: 'bob@example.org' }

/** Sends a batch. */
export const post = (call: Call, body: unknown, headers: Record<string, string> = {}) => call('POST', '/users/batch', {
  headers: { 'content-type': 'application/json', ...headers }, payload: JSON.stringify(body)
})

/** The status of each operation, or the code of its problem. */
export function statusesOf (response: { json (): { data: Array<{ status: number, body: { code?: string } }> } }) {
  return response.json().data.map(({ status, body }) => status < 400 ? status : body.code)
}

/** Users as name and address. */
export async function listed (call: Call): Promise<unknown[]> {
  const { data }: { data: Array<{ name: string, email: string }> } = (await call('GET', '/users')).json()
  return data.map(({ name, email }) => `${name} ${email}`)
}
