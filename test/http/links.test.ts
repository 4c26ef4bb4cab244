import { test } from 'tap'
import { linksOf } from '../../lib/http/responses/links.ts'

type Pairs = Array<[string, string]>
const paging = { limit: 10, order: 'asc' } as const
const ids = (...all: string[]) => all.map((id) => ({ id }))

/** The links of a numbered page of 10, and its position in `total` records. */
function numbered (page: number, total: number, pairs: Pairs = []): string[] {
  const more = page * 10 < total
  const links = linksOf('/v1/users', pairs, { query: { ...paging, start: { page } }, items: [], total, more })
  return links.split(', ')
}

/** The links of a page that was asked for by `after`. */
function walked (items: Array<{ id: string }>, more: boolean, pairs: Pairs): string {
  const query = { ...paging, start: { after: 'usr_1' } }
  return linksOf('/v1/users', pairs, { query, items, total: 35, more })
}

test('a page in the middle has first, prev, next and last (RFC 8288)', async (t) => {
  t.strictSame(numbered(2, 35), [
    '</v1/users?page=1>; rel="first"',
    '</v1/users?page=1>; rel="prev"',
    '</v1/users?page=3>; rel="next"',
    '</v1/users?page=4>; rel="last"'
  ])
})

test('the first page has no prev, and the last one no next', async (t) => {
  t.strictSame(numbered(1, 20), [
    '</v1/users?page=1>; rel="first"', '</v1/users?page=2>; rel="next"', '</v1/users?page=2>; rel="last"'
  ])
  t.strictSame(numbered(2, 20), [
    '</v1/users?page=1>; rel="first"', '</v1/users?page=1>; rel="prev"', '</v1/users?page=2>; rel="last"'
  ])
})

test('an empty list has one page', async (t) => {
  t.strictSame(numbered(1, 0), ['</v1/users?page=1>; rel="first"', '</v1/users?page=1>; rel="last"'])
})

test('a page past the end leads back to the last one', async (t) => {
  t.strictSame(numbered(9, 35), [
    '</v1/users?page=1>; rel="first"', '</v1/users?page=4>; rel="prev"', '</v1/users?page=4>; rel="last"'
  ])
})

test('links keep every parameter in its place, encoded for a query', async (t) => {
  const [first] = numbered(2, 35, [['q', 'Ä&b=c <>"'], ['page', '2'], ['limit', '10']])
  t.equal(first, '</v1/users?q=%C3%84%26b%3Dc+%3C%3E%22&page=1&limit=10>; rel="first"')
  const [added] = numbered(2, 35, [['limit', '10']])
  t.equal(added, '</v1/users?limit=10&page=1>; rel="first"', 'page comes last if it was not sent')
})

test('a walk by after has only next, which continues after the last record', async (t) => {
  const pairs: Pairs = [['limit', '2'], ['after', 'usr_1'], ['sort', '-createdAt']]
  t.equal(walked(ids('usr_2', 'usr_3'), true, pairs),
    '</v1/users?limit=2&after=usr_3&sort=-createdAt>; rel="next"')
  t.equal(walked(ids('usr_2'), false, pairs), '', 'the end has no link')
  t.equal(walked([], false, pairs), '')
})
