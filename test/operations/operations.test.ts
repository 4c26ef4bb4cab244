import { test } from 'tap'
import { collectionPath } from '../../lib/operations/route.ts'

test('the path of a collection is that of the request only where the prefix has parameters', async (t) => {
  const allowed = "/-._~!$&'()*+,;=:@%41/users"
  const rows: Array<[prefix: string, url: string, path: string, below?: string]> = [
    ['/v1', '//evil.example/users', '/v1/users'],
    ['/v1', '/V1/users/x', '/v1/users', '/:id'],
    ['', '/users', '/users'],
    ['/t/:tenant', '/t/acme/users?a=/b/c', '/t/acme/users'],
    ['/t/:tenant', '/t/acme/users/', '/t/acme/users'],
    ['/t/:tenant', '/t/acme/users/usr_1/', '/t/acme/users', '/:id'],
    ['/t/:tenant', '/t/acme/users/usr_1/rotate?x', '/t/acme/users', '/:id/rotate'],
    ['/t/:tenant', '/t/a%2Fb%20c/users', '/t/a%2Fb%20c/users'],
    ['/*', '/t/users?x', '/t/users'],
    // Slashes are single, so that no path leads to another host.
    ['/:tenant', '//evil.example//users', '/evil.example/users'],
    ['/:tenant', '/\\evil.example/users', '/%5Cevil.example/users'],
    // Characters that a path may not have are escaped (RFC 3986 section 3.3): no header can be added.
    ['/:tenant', '/a"<>\\^`{|} ä😀/users', '/a%22%3C%3E%5C%5E%60%7B%7C%7D%20%C3%A4%F0%9F%98%80/users'],
    ['/:tenant', allowed, allowed],
    ['/:tenant', '/a\r\nlink: x/users', '/a%0D%0Alink:%20x/users'],
    ['/:tenant', '/\ud800/users', '/%EF%BF%BD/users']
  ]
  for (const [prefix, url, path, below = ''] of rows) {
    t.equal(collectionPath(prefix, `/users${below}`, false)({ url }), path, `${url} under ${prefix}`)
  }
  const at = (useSemicolonDelimiter: boolean, url: string) =>
    collectionPath('/:tenant', '/users', useSemicolonDelimiter)({ url })
  t.equal(at(false, '/a;b/users;page=2'), '/a;b/users;page=2', 'a semicolon is no delimiter')
  t.equal(at(true, '/a/users;page=2'), '/a/users', 'unless the host made it one')
})
