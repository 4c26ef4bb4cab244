// What people paste into a search: ids from a log, addresses of the API or of this page, and keys.

/** A key and most of its secret: more than a hundred bits of what this leaves are unknown. */
const KEY = /([a-z0-9]{1,12}_[0-9A-Za-z]{12})_[0-9A-Za-z]{20,}/
const START = /^[a-z0-9]{1,12}_[0-9A-Za-z]{12}$/
const ID = /(?:^|[^0-9a-z])((?:usr|key|evt|whk)_[0-7][0-9a-hjkmnp-tv-z]{25})(?![0-9a-z])/i
const BASE_32 = '0123456789abcdefghjkmnpqrstvwxyz'

/** A text for a query: of one with an API key in it no more than how the key begins. */
export function withoutSecret (text: string): string {
  const [, start] = KEY.exec(text) ?? []
  return start ?? text
}

/** Takes the secret of a key out of an input, and returns the text that is left. */
export function cutSecret (input: { value: string }): string {
  const text = withoutSecret(input.value)
  if (text !== input.value) input.value = text
  return text
}

/** A user, an API key, an event or a webhook by its id, or an API key by the start of its text. */
export interface Named { is: 'usr' | 'key' | 'evt' | 'whk' | 'start', text: string }

/** What a text names: by an id in any case, also within an address, or by how a key begins. null: nothing. */
export function namedIn (text: string): Named | null {
  const one = withoutSecret(text).trim()
  if (START.test(one)) return { is: 'start', text: one }
  const id = /\s/.test(one) ? undefined : ID.exec(one)?.[1]?.toLowerCase()
  const is = (['usr', 'key', 'evt', 'whk'] as const).find((prefix) => id?.startsWith(prefix))
  return id === undefined || is === undefined ? null : { is, text: id }
}

/** When an id was made, in epoch milliseconds: the first 48 bits of its UUIDv7. */
export function timeOfId (id: string): number {
  return [...id.slice(4, 14)].reduce((time, character) => time * 32 + BASE_32.indexOf(character), 0)
}
