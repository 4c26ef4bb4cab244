import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { UsersError } from '../core/errors.ts'
import { isAllowedAddress, type Network } from './addresses.ts'
import { createResolve } from './resolve.ts'

// RFC 3986 section 2. `URL` takes others and calls another address than the one that is shown: it cuts line breaks out.
const URI_CHARACTERS = /^(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[\dA-Fa-f]{2})*$/

/** Code of the error that a connection to an address ends with that is not allowed. */
export const NOT_ALLOWED = 'ERR_URL_NOT_ALLOWED'

export interface TargetOptions {
  allowHttp: boolean
  allowedNetworks: readonly Network[]
  /** Resolves names; by default `lookup` of `node:dns`. */
  lookup?: LookupFunction | undefined
}

/** Which targets deliveries may go to. */
export interface Targets {
  /**
   * Checks a URL and every address that its name resolves to now.
   * @throws UsersError `url_not_allowed`
   */
  check (url: string): Promise<void>
  /** True if a URL has a form that is allowed, and no address that is not. */
  isAllowed (url: string): boolean
  /**
   * Resolves a name for a connection and refuses it with the code {@link NOT_ALLOWED} if any of its addresses is not
   * allowed. The connection goes to an address that was checked, so an answer that changes later can't redirect it.
   */
  lookup: LookupFunction
}

function notAllowed (detail: string): UsersError {
  return new UsersError('url_not_allowed', { errors: [{ pointer: '/url', code: 'not_allowed', detail }] })
}

/** The address in the host of a URL, without the brackets of IPv6; null if it is a name. */
function literalOf ({ hostname }: URL): string | null {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(bare) === 0 ? null : bare
}

/** Makes the checks of targets. */
export function createTargets ({ allowHttp, allowedNetworks, lookup }: TargetOptions): Targets {
  const isAllowedEach = ({ address }: LookupAddress): boolean => isAllowedAddress(address, allowedNetworks)

  const resolve = createResolve(lookup)

  /** What is wrong with a URL before its name is resolved; null: nothing. */
  function faultOf (text: string): string | null {
    if (!URL.canParse(text)) return 'must be an absolute URL'
    if (!URI_CHARACTERS.test(text)) return 'must have only the characters of a URI; others are percent-encoded'
    const url = new URL(text)
    if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:')) return 'must begin with https://'
    if (url.username !== '' || url.password !== '') return 'must not have a user name or password'
    const literal = literalOf(url)
    return literal === null || isAllowedAddress(literal, allowedNetworks) ? null : 'must not lead to an inner address'
  }

  return {
    isAllowed: (url) => faultOf(url) === null,

    async check (text) {
      const fault = faultOf(text)
      if (fault !== null) throw notAllowed(fault)
      const url = new URL(text)
      if (literalOf(url) !== null) return
      const addresses = await resolve(url.hostname).catch(() => [])
      if (addresses.length === 0) throw notAllowed('must have a name that can be resolved')
      if (!addresses.every(isAllowedEach)) throw notAllowed('must not lead to an inner address')
    },

    lookup (name, options, callback) {
      resolve(name).then((addresses) => {
        const [first] = addresses
        if (first === undefined || !addresses.every(isAllowedEach)) {
          callback(Object.assign(new Error('the address is not allowed'), { code: NOT_ALLOWED }), '', 0)
        } else if (options.all === true) callback(null, addresses)
        else callback(null, first.address, first.family)
      }, (error) => callback(error, '', 0))
    }
  }
}
