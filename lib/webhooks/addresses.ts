import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
export type Network = [Address, number]

// All that IANA has allocated for global unicast. The rest is reserved (RFC 4291 section 2.4).
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

/** The IPv4 address that an IPv6 address leads to: mapped (RFC 4291 section 2.5.5.2), or by NAT64 (RFC 6052). */
function embedded (address: Address): Address {
  if (address.kind() === 'ipv4') return address
  const range = address.range()
  if (range !== 'ipv4Mapped' && range !== 'rfc6052') return address
  return ipaddr.fromByteArray(address.toByteArray().slice(12))
}

/** True if an address is in none of IANA's special-purpose ranges. */
function isPublic (address: Address): boolean {
  return address.range() === 'unicast' && (address instanceof ipaddr.IPv4 || address.match(...GLOBAL_UNICAST))
}

function isIn (address: Address, [network, bits]: Network): boolean {
  return address.kind() === network.kind() && address.match(network, bits)
}

/** True for a network in CIDR form. */
export function isNetwork (text: unknown): boolean {
  return typeof text === 'string' && ipaddr.isValidCIDR(text)
}

/** Reads a network in CIDR form. @throws Error for anything else */
export function parseNetwork (text: string): Network {
  return ipaddr.parseCIDR(text)
}

/** The address that a connection to this one leads to; null: it is none, or a link's own. */
function read (text: string): Address | null {
  if (!ipaddr.isValid(text)) return null
  // With a zone (RFC 4007) an address is a link's own.
  const given = ipaddr.parse(text)
  return given instanceof ipaddr.IPv6 && given.zoneId !== undefined ? null : embedded(given)
}

/** True for an address in one of the networks. */
export function isInNetworks (text: string, networks: readonly Network[]): boolean {
  const address = read(text)
  return address !== null && networks.some((network) => isIn(address, network))
}

/** True for an address that is public, or in one of the networks. */
export function isAllowedAddress (text: string, networks: readonly Network[]): boolean {
  const address = read(text)
  return address !== null && (isPublic(address) || isInNetworks(text, networks))
}
