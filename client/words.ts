import { ClientError } from './error.ts'
import type { Transport } from './transport.ts'

/** What people read of an error for which the API has no words. */
function wordsOf ({ code, statusCode }: ClientError): string {
  if (code === 'network') return 'no complete answer came: is baseUrl right, and can it be reached? The cause says more'
  if (code === 'timeout') return 'no answer came in time: see timeoutMs'
  const prefix = statusCode === 404 ? ': does baseUrl include the prefix?' : ''
  return code === 'unreadable' ? `${statusCode} from something that is not this API${prefix}` : code
}

/** The same transport, whose errors have a message for people. */
export const inWords = (send: Transport): Transport => async (...call) => {
  try {
    return await send(...call)
  } catch (error) {
    if (error instanceof ClientError && error.message === error.code) error.message = wordsOf(error)
    throw error
  }
}

/** Their parts would be characters and numbers, and no users. */
export function requireNoText (source: unknown): void {
  if (typeof source !== 'string' && !(source instanceof Uint8Array)) return
  throw new TypeError('fastify-users/client: import() takes no text: for a file pass createReadStream(path) and its ' +
    'format, and for a text in memory a Blob or [text] and its format')
}
