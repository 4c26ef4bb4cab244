import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify<string, Buffer, number, Buffer>(scrypt)

/** A salted hash of a password, as text. */
export async function hashPassword (password: string): Promise<string> {
  const salt = randomBytes(16)
  return `${salt.toString('base64url')}.${(await derive(password, salt, 32)).toString('base64url')}`
}

// Nobody's: who has no password takes as long to refuse, so that answers do not tell which addresses are known.
const NOBODY = await hashPassword(randomBytes(32).toString('base64url'))

/** Whether a password is the one that was hashed. `hash`: undefined if there is none. */
export async function isPassword (password: string, hash: string | undefined): Promise<boolean> {
  const [salt = '', expected = ''] = (hash ?? NOBODY).split('.')
  const found = await derive(password, Buffer.from(salt, 'base64url'), 32)
  return timingSafeEqual(found, Buffer.from(expected, 'base64url')) && hash !== undefined
}
