// The filters of the list on the administration page, and how a change of an object is shown.
import { Type } from '@sinclair/typebox'
import { adminHost, openFilters, pageTest, violations } from '../helpers/admin-page.ts'
import { until } from '../helpers/until.ts'

const FIELDS = Type.Object({
  seats: Type.Optional(Type.Integer({ title: 'Seats' })),
  born: Type.Optional(Type.String({ format: 'date', title: 'Born' })),
  seen: Type.Optional(Type.String({ format: 'date-time', title: 'Seen' })),
  note: Type.Optional(Type.String({ title: 'City' })),
  code: Type.Optional(Type.String({ title: 'Code' }))
})

pageTest('filters numbers, dates and times by ranges, and says how a text is compared', async (t) => {
  const { users, enter } = await adminHost(t, {
    fields: {
      schema: FIELDS, filterable: ['seats', 'born', 'seen', 'note', 'code'], searchable: ['note']
    }
  })
  for (const [i, name] of ['Ada', 'Bob', 'Cyd'].entries()) {
    await users.create({
      name,
      email: `${name}@example.org`,
      seats: 10 * (i + 1),
      born: `200${i}-06-15`,
      seen: `202${i}-06-15T10:00:00Z`,
      note: 'New York'
    })
  }
  const page = await enter('#/users?seats=20')
  const names = async () => (await page.locator('a.name').allInnerTexts()).sort().join()
  const shows = (wanted: string) => until(`the list shows ${wanted}`, async () => await names() === wanted)
  await shows('Bob')
  await page.getByRole('button', { name: 'Remove the filter Seats: 20' }).click()
  await shows('Ada,Bob,Cyd')
  await openFilters(page)
  t.strictSame(await violations(page), [])
  const search = page.getByRole('search')
  for (const [kind, from, to] of [
    ['Seats', ['from', '20'], ['to', '20']],
    ['Born', ['from', '2001-06-15'], ['to', '2001-06-15']],
    ['Seen', ['from', '2021-06-15T12:00'], ['before', '2022-06-15T12:00']]
  ] as const) {
    await search.getByLabel(`${kind} ${from[0]}`).fill(from[1])
    await shows('Bob,Cyd')
    await search.getByLabel(`${kind} ${to[0]}`).fill(to[1])
    await shows('Bob')
    await search.getByLabel(`${kind} ${from[0]}`).fill('')
    await shows('Ada,Bob')
    await search.getByLabel(`${kind} ${to[0]}`).fill('')
    await shows('Ada,Bob,Cyd')
  }
  const hintOf = async (name: string) => await search.locator('.field', { hasText: name }).locator('.hint').innerText()
  t.equal(await hintOf('City is'), 'The whole value. The search above finds words in it.')
  t.equal(await hintOf('Code is'), 'The whole value, not a part of it.')
  await search.getByLabel('City is').fill('New')
  await page.getByText('No user matches.').waitFor()
  await search.getByLabel('City is').fill('New York')
  await shows('Ada,Bob,Cyd')
  await search.getByLabel('Seen from').fill('2021-06-15T12:00')
  await page.getByRole('button', { name: /^Remove the filter Seen from: 15 Jun 2021, 12:00/ }).waitFor()
})

pageTest('the history shows each member of an object that is set for the first time, or removed', async (t) => {
  const { users, enter } = await adminHost(t)
  const { id } = await users.create({ name: 'Ada', email: 'ada@example.org' })
  await users.update(id, { address: { city: 'London', zip: 'W1' } })
  await users.update(id, { address: { zip: null } })
  await users.update(id, { address: null })
  const page = await enter(`#/users/${id}`)
  await page.getByText('created this user').waitFor()
  t.strictSame((await page.locator('.changes li').allInnerTexts()).map((text) => text.trim()), [
    'address › City: London → not set',
    'address › zip: W1 → not set',
    'address › City: not set → London',
    'address › zip: not set → W1'
  ])
})
