import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { UsersError } from '../core/errors.ts'
import { isAllowedAddress, isInNetworks, type Network } from './addresses.ts'
import { BUSY, createResolve } from './resolve.ts'

// RFC 3986 section 2. `URL` accepts other characters, and then leads to a different address than the one shown: it
// removes line breaks, for example.
const URI_CHARACTERS = /^(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[\dA-Fa-f]{2})*$/

/** The error code of a connection to an address that is not allowed. */
export const NOT_ALLOWED = 'ERR_URL_NOT_ALLOWED'

export interface TargetOptions {
  /** Allow http to `allowedNetworks`. */
  allowHttp: boolean
  allowedNetworks: readonly Network[]
  /** Resolves names; by default `lookup` of `node:dns`. */
  lookup?: LookupFunction | undefined
  /** Milliseconds after which a name counts as unresolvable. */
  resolveMs?: number
}

/** Where one attempt goes. */
export interface Target {
  /** The parsed URL. The attempt takes everything that it needs from here, never from the text. */
  url: URL
  /**
   * Resolves a name for a connection and refuses it with the code {@link NOT_ALLOWED} if any of its addresses is not
   * allowed. The connection goes to an address that was checked, so an answer that changes later can't redirect it.
   */
  lookup: LookupFunction
}

/** Which targets deliveries may go to. Each name is resolved on behalf of a caller, and callers take turns. */
export interface Targets {
  /**
   * Checks a URL and every address that its name resolves to now.
   * @throws UsersError `url_not_allowed`, `storage_unavailable` if too many names are being resolved
   */
  check (url: string, caller: string): Promise<void>
  /** Reads a URL for an attempt; `null` if its form or its address is not allowed. */
  open (url: string, caller: string): Target | null
}

function notAllowed (detail: string): UsersError {
  return new UsersError('url_not_allowed', { errors: [{ pointer: '/url', code: 'not_allowed', detail }] })
}

/** The error of a request whose name could not be resolved because other names are being resolved. */
export function tooManyNames (): UsersError {
  const detail = 'Too many names are being resolved at the moment. Try again later.'
  return new UsersError('storage_unavailable', { detail, headers: { 'retry-after': '5' } })
}

/** The address in the host of a URL, without the brackets of IPv6; null if it is a name. */
function literalOf ({ hostname }: URL): string | null {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(bare) === 0 ? null : bare
}

/** Makes the checks of targets. */
export function createTargets ({ allowHttp, allowedNetworks, lookup, resolveMs }: TargetOptions): Targets {
  const resolve = createResolve(lookup, resolveMs)

  /** Anybody on the route can read http, so it is only for the host's own networks. */
  function isAllowed ({ protocol }: URL, address: string): boolean {
    const isSafe = protocol === 'https:' ? isAllowedAddress : isInNetworks
    return isSafe(address, allowedNetworks)
  }

  const innerOf = ({ protocol }: URL): string => protocol === 'https:'
    ? 'must not point to an internal address'
    : 'must begin with https://, or point to an allowed network'

  /** Reads a URL, or says what is wrong with it before its name is resolved. */
  function read (text: string): URL | string {
    if (!URL.canParse(text)) return 'must be an absolute URL'
    if (!URI_CHARACTERS.test(text)) return 'must have only the characters of a URI: percent-encode all others'
    const url = new URL(text)
    if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:')) return 'must begin with https://'
    if (url.username !== '' || url.password !== '') return 'must not have a user name or password'
    if (url.port === '0') return 'must not have the port 0'
    const literal = literalOf(url)
    return literal === null || isAllowed(url, literal) ? url : innerOf(url)
  }

  return {
    async check (text, caller) {
      const url = read(text)
      if (typeof url === 'string') throw notAllowed(url)
      if (literalOf(url) !== null) return
      const addresses = await resolve(url.hostname, caller).catch((cause): LookupAddress[] => {
        if (Object(cause).code === BUSY) throw tooManyNames()
        return []
      })
      if (addresses.length === 0) throw notAllowed('must have a name that can be resolved')
      if (!addresses.every(({ address }) => isAllowed(url, address))) throw notAllowed(innerOf(url))
    },

    open (text, caller) {
      const url = read(text)
      if (typeof url === 'string') return null
      return {
        url,
        lookup (name, options, callback) {
          resolve(name, caller).then((addresses) => {
            const [first] = addresses
            if (first === undefined || !addresses.every(({ address }) => isAllowed(url, address))) {
              callback(Object.assign(new Error('the address is not allowed'), { code: NOT_ALLOWED }), '', 0)
            } else if (options.all === true) callback(null, addresses)
            else callback(null, first.address, first.family)
          }, (error) => callback(error, '', 0))
        }
      }
    }
  }
}
