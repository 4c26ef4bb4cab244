// The networks of a key, and the addresses of clients.
import { test } from 'tap'
import { clientAddress, isFrom } from '../../lib/api-keys/addresses.ts'

test('a client has an address of a network, or it has none', (t) => {
  const cases: Array<[string[], string | null, boolean]> = [
    [['203.0.113.0/24'], '203.0.113.255', true],
    [['203.0.113.0/24'], '203.0.114.0', false],
    [['203.0.113.0/24'], '::ffff:203.0.113.7', true],
    [['::ffff:203.0.113.0/120'], '203.0.113.9', true],
    [['203.0.113.7/32'], '203.0.113.8', false],
    [['2001:db8::/32', '10.0.0.0/8'], '2001:DB8:0::1', true],
    [['2001:db8::/32', '10.0.0.0/8'], '10.255.0.1', true],
    [['0.0.0.0/0'], '::1', false],
    [['::/0'], '203.0.113.7', false],
    [['fe80::/10'], 'fe80::1%eth0', true],
    [['0.0.0.0/0', '::/0'], null, false],
    [['0.0.0.0/0', '::/0'], 'unknown', false],
    [['203.0.113.0/24'], '::ffff:203.0.113.7:4711', true],
    [['203.0.113.0/24'], '[::ffff:203.0.113.7]:4711', true],
    [['2001:db8::/32'], '[2001:db8::1]:443', true],
    [['fe80::/10'], '[fe80::1%eth0]:443', true],
    [['0.0.0.0/0', '::/0'], '203.0.113.7:http', false],
    [['0.0.0.0/0', '::/0'], '203.0.113.7, 203.0.113.8', false],
    [['0.0.0.0/0', '::/0'], '010.0.0.1', false],
    [['', 'nonsense', '10.0.0.0/33'], '10.0.0.1', false]
  ]
  for (const [addresses, client, isIn] of cases) {
    t.equal(isFrom(addresses, client && clientAddress(client)), isIn, `${client} in ${addresses}`)
  }
  t.end()
})
