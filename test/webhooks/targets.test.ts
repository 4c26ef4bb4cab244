// No way inside: which URLs deliveries may go to, and that a name whose addresses change can't lead one elsewhere.
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import type { AddressInfo, LookupFunction } from 'node:net'
import { createServer } from 'node:tls'
import ipaddr from 'ipaddr.js'
import { test } from 'tap'
import { isAllowedAddress, parseNetwork } from '../../lib/webhooks/addresses.ts'
import { createSend } from '../../lib/webhooks/send.ts'
import { createTargets, type TargetOptions } from '../../lib/webhooks/targets.ts'
import { startReceiver } from '../helpers/webhook-receiver.ts'

const STRICT: TargetOptions = { allowHttp: false, allowedNetworks: [] }

/** Resolves names by a table; each answer of a list is given once, the last one for good. */
function resolver (answers: Record<string, string[][]>): LookupFunction & { calls: number } {
  const lookup: LookupFunction = (name, _options, callback) => {
    counting.calls++
    const [next = [], ...later] = answers[name] ?? []
    if (later.length > 0) answers[name] = later
    const all: LookupAddress[] = next.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    if (all.length > 0) callback(null, all)
    else callback(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }), '', 0)
  }
  const counting = Object.assign(lookup, { calls: 0 })
  return counting
}

const HOSTILE = [
  // Not https, or no URL at all.
  '', 'x', '//example.org', 'http://example.org/', 'ftp://example.org/', 'file:///etc/passwd', 'gopher://example.org/',
  'javascript:alert(1)', 'data:text/plain,x', 'https://', 'https://[', 'https://user:secret@example.org/',
  'https://user@example.org/', 'https://public.test/\0', 'https://public.test/\ud800', 'https://public.test/a\r\nX: y',
  ' https://public.test/', 'https://public.test/a b', 'https://public.test/\t', 'https://public.test/ä',
  'https://public.test/%zz', 'https://public.test/{id}', 'https://public.test/"',
  // IPv4 in every form that URLs have for it, and IPv6 that hides it. Every special range: below.
  'https://127.0.0.1/', 'https://127.1/', 'https://2130706433/', 'https://0x7f000001/', 'https://0177.0.0.1/',
  'https://0x7f.1/', 'https://127.0.0.1./', 'https://%31%32%37.0.0.1/', 'https://１２７.0.0.1/', 'https://0/',
  'https://169.254.169.254/latest/meta-data/', 'https://[::1]/', 'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/', 'https://[64:ff9b::127.0.0.1]/', 'https://[64:ff9b::a00:1]/', 'https://[::127.0.0.1]/',
  'https://[2002:7f00:1::]/', 'https://[fd00:ec2::254]/', 'https://[fec0::1]/', 'https://[4000::1]/',
  // Names that lead inside, wholly or in part.
  'https://inner.test/', 'https://metadata.test/', 'https://mixed.test/', 'https://mapped.test/', 'https://nat64.test/',
  'https://unknown.test/'
]

const NAMES = {
  'inner.test': [['10.0.0.1']],
  'metadata.test': [['169.254.169.254']],
  'mixed.test': [['93.184.215.14', '127.0.0.1']],
  'mapped.test': [['::ffff:10.0.0.1']],
  'nat64.test': [['64:ff9b::7f00:1']],
  'public.test': [['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c', '64:ff9b::5db8:d70e']]
}

test(`none of ${HOSTILE.length} hostile URLs is allowed, and an attempt at any of them sends nothing`, async (t) => {
  const targets = createTargets({ ...STRICT, lookup: resolver(structuredClone(NAMES)) })
  const send = createSend(targets)
  for (const url of HOSTILE) {
    await t.rejects(targets.check(url, 'x'), { code: 'url_not_allowed', statusCode: 400 }, url)
    const { status, error } = await send({ url, caller: 'x', headers: {}, body: '{}' }, new AbortController().signal)
    t.match([status, error], [null, url.includes('unknown') ? 'dns' : 'url_not_allowed'], url)
  }
  await targets.check('https://public.test/hook?x=1', 'x')
  await targets.check('https://93.184.215.14/', 'x')
  await targets.check('https://[2606:4700::1111]/', 'x')
})

// With %d for the port. Every name leads to the receiver.
const DELIVERABLE = [
  'http://127.0.0.1:%d/', 'HTTP://127.0.0.1:%d/', 'hTtP://RECEIVER.test:%d/', 'http:127.0.0.1:%d/x',
  'http:/127.0.0.1:%d/x', 'http:///127.0.0.1:%d/x', 'http://127.1:%d/', 'http://0x7f.1:%d/', 'http://0177.0.0.1:%d/',
  'http://2130706433:%d/', 'http://0x7f000001:%d/', 'http://127.0.0.1.:%d/', 'http://%31%32%37.0.0.1:%d/',
  'http://[::ffff:127.0.0.1]:%d/', 'http://[::ffff:7f00:1]:%d/', 'http://receiver.test:0%d/', 'http://receiver.test:%d',
  'http://receiver.test:%d?a=b', 'http://receiver.test:%d#part', 'http://receiver.test:%d/#a?b',
  'http://receiver.test.:%d/', 'http://receiver.test..:%d/', 'http://.test:%d/', 'http://a_b.test:%d/',
  'http://-a-.test:%d/', 'http://*.test:%d/', "http://a!$&'()*+,;=b.test:%d/", `http://${'a'.repeat(64)}.test:%d/`,
  'http://b%C3%BCcher.test:%d/', 'http://xn--bcher-kva.test:%d/', 'http://rec%65iver.test:%d/',
  'http://receiver%2etest:%d/', 'http://@receiver.test:%d/', 'http://:@receiver.test:%d/',
  'http://receiver.test:%d/a/../b/./c', 'http://receiver.test:%d/%2e%2e/a', 'http://receiver.test:%d//a//b',
  'http://receiver.test:%d/[a]?[b]', 'http://receiver.test:%d/%C3%A4%00%0D%0A', "http://receiver.test:%d/?a='b'"
]
const UNDELIVERABLE = [
  'http:\\\\127.0.0.1:%d\\x', 'http://[fe80::1%25lo]:%d/', 'http://[fe80::1%lo]:%d/', 'http://[::1]:%d/',
  'http://bücher.test:%d/', 'http://xn--a.test:%d/', 'http://a%00.test:%d/', 'http://a%20.test:%d/',
  'http://user@receiver.test:%d/', 'http://:x@receiver.test:%d/', 'http://receiver.test:%d/?a b',
  'http://rec\teiver.test:%d/', '\nhttp://receiver.test:%d/', 'http://receiver.test:%d/\\x', 'http://receiver.test:0/',
  'http://receiver.test:65536/', 'http://receiver.test:-1/', 'http://receiver.test:x/'
]

test('what is accepted is delivered, and what is refused is not, in every form that a URL may have', async (t) => {
  const receiver = await startReceiver(t)
  const { port } = new URL(receiver.url)
  const lookup: LookupFunction = (_name, _options, callback) => callback(null, '127.0.0.1', 4)
  const targets = createTargets({ allowHttp: true, allowedNetworks: [parseNetwork('127.0.0.0/8')], lookup })
  const send = createSend(targets)
  const answerOf = async (url: string) => {
    const { status, error } = await send({ url, caller: 'x', headers: {}, body: '{}' }, new AbortController().signal)
    return status ?? error
  }
  for (const url of DELIVERABLE.map((form) => form.replace('%d', port))) {
    await t.resolves(targets.check(url, 'x'), url)
    t.equal(await answerOf(url), 204, url)
  }
  for (const url of UNDELIVERABLE.map((form) => form.replace('%d', port))) {
    await t.rejects(targets.check(url, 'x'), { code: 'url_not_allowed' }, url)
    t.equal(await answerOf(url), 'url_not_allowed', url)
  }
  t.equal(receiver.received.length, DELIVERABLE.length)
})

test('TLS gets the name without the dot that ends it, and no address', async (t) => {
  const names: Array<string | false> = []
  const server = createServer({
    SNICallback (name, callback) {
      names.push(name)
      callback(null)
    }
  })
  t.teardown(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port }: AddressInfo = Object(server.address())
  const lookup: LookupFunction = (_name, _options, callback) => callback(null, '127.0.0.1', 4)
  const send = createSend(createTargets({ ...STRICT, allowedNetworks: [parseNetwork('127.0.0.0/8')], lookup }))
  for (const host of ['receiver.test.', 'other.test', '127.0.0.1', '[::ffff:127.0.0.1]']) {
    const url = `https://${host}:${port}/`
    const answer = await send({ url, caller: 'x', headers: {}, body: '{}' }, new AbortController().signal)
    t.match(answer, { status: null, error: 'tls' }, 'it has no certificate')
  }
  t.strictSame(names, ['receiver.test', 'other.test'])
})

test('http leads to the networks that the host allows alone', async (t) => {
  const lookup = resolver({ ...structuredClone(NAMES), 'both.test': [['10.0.0.1', '93.184.215.14']] })
  const targets = createTargets({ allowHttp: true, allowedNetworks: [parseNetwork('10.0.0.0/8')], lookup })
  for (const url of ['http://10.1.2.3/', 'http://inner.test/', 'http://[::ffff:10.0.0.1]/', 'http://mapped.test/']) {
    await targets.check(url, 'x')
    t.ok(targets.open(url, 'x'), url)
  }
  for (const url of ['http://93.184.215.14/', 'http://[2606:4700::1111]/', 'http://192.168.1.1/']) {
    await t.rejects(targets.check(url, 'x'), { code: 'url_not_allowed' }, url)
    t.equal(targets.open(url, 'x'), null, url)
  }
  const send = createSend(targets)
  for (const url of ['http://public.test/', 'http://both.test/', 'http://metadata.test/']) {
    await t.rejects(targets.check(url, 'x'), { code: 'url_not_allowed' }, url)
    const answer = await send({ url, caller: 'x', headers: {}, body: '{}' }, new AbortController().signal)
    t.match(answer, { status: null, error: 'url_not_allowed' }, url)
  }
})

test('a name that was public when it was checked can’t lead an attempt inside later', async (t) => {
  const receiver = await startReceiver(t)
  const { port } = new URL(receiver.url)
  const lookup = resolver({ 'rebound.test': [['93.184.215.14'], ['127.0.0.1']] })
  const targets = createTargets({ ...STRICT, lookup })
  const url = `https://rebound.test:${port}/`
  await targets.check(url, 'x')
  const answer = await createSend(targets)({ url, caller: 'x', headers: {}, body: '{}' }, new AbortController().signal)
  t.match(answer, { status: null, error: 'url_not_allowed' })
  t.equal(lookup.calls, 2)
  t.equal(receiver.received.length, 0)
})

test('the connection goes to the address that was checked: the name is resolved once for it', async (t) => {
  const receiver = await startReceiver(t)
  const { port } = new URL(receiver.url)
  const lookup = resolver({ 'once.test': [['127.0.0.1'], ['10.255.255.1']] })
  const allowed = { allowHttp: true, allowedNetworks: [parseNetwork('127.0.0.0/8')], lookup }
  const send = createSend(createTargets(allowed))
  const answer = await send(
    { url: `http://once.test:${port}/`, caller: 'x', headers: {}, body: '{}' }, new AbortController().signal
  )
  t.match(answer, { status: 204, error: null })
  t.strictSame([lookup.calls, receiver.received.length], [1, 1])
  t.equal(receiver.received[0]?.headers.host, `once.test:${port}`)
})

test('networks that the host allows are allowed, and no others', async (t) => {
  const allowed = ['10.1.0.0/16', 'fd00:1::/32'].map(parseNetwork)
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '64:ff9b::a01:203', 'fd00:1::5', '8.8.8.8']) {
    t.ok(isAllowedAddress(address, allowed), address)
  }
  for (const address of ['10.2.0.1', 'fd00:2::1', '127.0.0.1', 'fe80::1%eth0', 'x', '10.1']) {
    t.notOk(isAllowedAddress(address, allowed), address)
  }
})

// IANA's registries of special-purpose addresses, and multicast.
const SPECIAL = [
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24',
  '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24',
  '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4', '::/128', '::1/128',
  '64:ff9b:1::/48', '100::/64', '100:0:0:1::/64', '2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48',
  '3fff::/20', '5f00::/16', 'fc00::/7', 'fe80::/10', 'ff00::/8'
]

test('the first and the last address of every special-purpose range are refused', async (t) => {
  for (const range of SPECIAL) {
    const [network, bits] = ipaddr.parseCIDR(range)
    const first = network.toByteArray()
    const last = first.map((byte, i) => byte | (0xff >> Math.min(8, Math.max(0, bits - 8 * i))))
    for (const bytes of [first, last]) {
      const address = ipaddr.fromByteArray(bytes).toString()
      t.notOk(isAllowedAddress(address, []), `${address} of ${range}`)
    }
  }
})
