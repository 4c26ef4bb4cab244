import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = [Address, number]

// Strict, since the package also reads `10.1/16`, `0x0a000000/8` and zones.
const CIDR = /^([0-9A-Fa-f.:]+)\/(0|[1-9][0-9]{0,2})$/

// An address that ends in four numbers may be IPv4-mapped.
const WITH_PORT = /^(?:\[(?<bracketed>[^\]]*)\]|(?<dotted>[^[\]]*\.[0-9]{1,3}))(?::[0-9]{1,5})?$/

/** Made once for each list: the verifier caches records, and a static key keeps its own. */
const compiled = new WeakMap<readonly string[], Array<Network | null>>()

/** IPv4-mapped IPv6 (RFC 4291 section 2.5.5.2) counts as IPv4: which of both a client has depends on the socket. */
function unmapped (address: Address): Address {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address
}

function readNetwork (text: string): Network | null {
  const [, base = '', length = ''] = CIDR.exec(text) ?? []
  if (isIP(base) === 0) return null
  const given = ipaddr.parse(base)
  const address = unmapped(given)
  const bits = Number(length) - (address === given ? 0 : 96)
  return bits < 0 || bits > (address.kind() === 'ipv4' ? 32 : 128) ? null : [address, bits]
}

/** A network in its one form: `10.1.2.3/8` is `10.0.0.0/8`. null: the text is none in CIDR form. */
export function canonicalNetwork (text: string): string | null {
  const network = readNetwork(text)
  if (network === null) return null
  const [address, bits] = network
  const { IPv4, IPv6 } = ipaddr
  const base = (address.kind() === 'ipv4' ? IPv4 : IPv6).networkAddressFromCIDR(`${address}/${bits}`)
  return `${base}/${bits}`
}

function networksOf (addresses: readonly string[]): Array<Network | null> {
  const known = compiled.get(addresses)
  if (known !== undefined) return known
  const networks = addresses.map(readNetwork)
  compiled.set(addresses, networks)
  return networks
}

function isIn (address: Address, networks: Array<Network | null>): boolean {
  // What plain SQL has written, and is no network, has nobody in it.
  return networks.some((each) => each !== null && each[0].kind() === address.kind() && address.match(each))
}

/**
 * The address of a client in its one form: without a port and brackets, which some proxies write into
 * `X-Forwarded-For`, and without the zone of a link's own address (RFC 4007). Any text that is no address is `unknown`.
 */
export function clientAddress (text: string): string {
  const { bracketed, dotted } = WITH_PORT.exec(text)?.groups ?? {}
  const bare = (bracketed ?? dotted ?? text).replace(/%.*$/s, '')
  return isIP(bare) === 0 ? 'unknown' : unmapped(ipaddr.parse(bare)).toString()
}

/** True if a client has one of the addresses. `client`: as `clientAddress` has it; null, as through a Unix socket. */
export function isFrom (addresses: readonly string[], client: string | null): boolean {
  return client !== null && isIP(client) !== 0 && isIn(ipaddr.parse(client), networksOf(addresses))
}

/** True if a network lies within one of the others. */
export function liesWithin (network: string, addresses: readonly string[]): boolean {
  const inner = readNetwork(network)
  if (inner === null) return false
  return isIn(inner[0], networksOf(addresses).filter((each) => each !== null && each[1] <= inner[1]))
}
