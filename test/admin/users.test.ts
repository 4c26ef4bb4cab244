// Users on the administration page, by clicking and typing; at night on every store.
import {
  act, adminHost, edit, fillIn, pageTest, press, submit
} from '../helpers/admin-page.ts'
import { from } from '../helpers/level.ts'
import { stores } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'

for (const { name, create } of stores) {
  pageTest(`lists, creates, changes and deletes users on ${name}`, async (t) => {
    const { users, enter } = await adminHost(t, { storage: await create(t) })
    for (let i = 1; i <= 45; i++) await users.create({ name: `User ${i}`, email: `user${i}@example.org` })
    const page = await enter()
    const shows = (first: string, count: number) => until(`${first} is the first of ${count}`, async () => {
      const shown = await page.locator('td.is-name a.name').allInnerTexts()
      return shown[0] === first && shown.length === count
    })

    await page.getByText('45 users').waitFor()
    await shows('User 45', 20)
    await page.getByRole('button', { name: 'Next page' }).click()
    await shows('User 25', 20)
    await page.getByText('21–40 of 45').click()
    await page.getByLabel('Go to page').fill('9')
    await page.getByRole('button', { name: 'Go', exact: true }).click()
    await shows('User 5', 5)
    t.equal(await page.getByRole('button', { name: 'Next page' }).getAttribute('aria-disabled'), 'true')
    await page.getByRole('button', { name: 'Previous page' }).click()
    await shows('User 25', 20)
    await page.goBack()
    await shows('User 5', 5)
    await page.goBack()
    await page.getByRole('button', { name: 'Previous page' }).click()
    await shows('User 45', 20)
    await page.getByText('Columns', { exact: true }).click()
    await page.getByLabel('Rows per page').selectOption('50')
    await shows('User 45', 45)
    await page.getByLabel('Search by name').fill('nobody')
    await page.getByText('No user matches.').waitFor()
    await page.getByText('The search matches the beginnings of words').waitFor()

    await page.getByRole('link', { name: 'New user' }).click()
    await page.getByRole('heading', { name: 'New user' }).waitFor()
    await page.getByLabel(/^Name/).fill('Ada Lovelace')
    await submit(page, { 'E-mail address': 'USER1@example.org', Seats: 'many' }, 'Create the user')
    await page.getByText('must be a whole number').waitFor()
    t.equal(await page.getByLabel('Seats').inputValue(), 'many')
    const focused = await page.evaluate('document.activeElement.id')
    t.equal(await page.getByLabel('Seats').getAttribute('id'), focused)
    await submit(page, { Seats: '12' }, 'Create the user', 'This is already in use.')
    t.equal(await page.getByLabel('E-mail address').getAttribute('aria-invalid'), 'true')
    await page.getByText('In use by').waitFor()
    const [first] = (await users.list({ email: 'user1@example.org' })).data
    t.equal(await page.getByRole('link', { name: 'User 1' }).getAttribute('href'), `#/users/${first?.id}`)
    await page.getByLabel('E-mail address').fill('ada@example.org')
    await page.getByRole('combobox', { name: 'Plan' }).selectOption('pro')
    await page.getByLabel('Newsletter').selectOption('No')
    await page.getByLabel('Born').fill('1815-12-10')
    await page.getByLabel('Seen').fill('2026-03-01T12:30:00')
    await fillIn(page, { Note: 'Wrote the first\nprogram.', Tags: 'countess\nmathematician\n' })
    await submit(page, { City: 'London', Anything: '{ "a": [1, ' }, 'Create the user', 'This is not JSON.')
    await submit(page, { Anything: '{ "a": [1, null] }' }, 'Create the user', 'Ada Lovelace was created.')
    const [ada] = (await users.list({ email: 'ada@example.org' })).data
    if (ada === undefined) throw new Error('Ada was not created')
    const { id, status, statusReason, version, createdAt, updatedAt, ...members } = ada
    t.strictSame(members, {
      name: 'Ada Lovelace',
      email: 'ada@example.org',
      plan: 'pro',
      seats: 12,
      active: true,
      newsletter: false,
      born: '1815-12-10',
      seen: '2026-03-01T11:30:00.000Z',
      note: 'Wrote the first\nprogram.',
      tags: ['countess', 'mathematician'],
      address: { city: 'London' },
      any: { a: [1, null] }
    })

    await page.getByRole('heading', { name: 'History' }).waitFor()
    await edit(page)
    await press(page, 'Save', 'Nothing has changed.')
    await submit(page, { Seats: '', zip: 'W1' }, 'Save', 'Saved.')
    const changed = await users.get(id)
    t.strictSame([changed.seats, changed.address, changed.tags],
      [undefined, { city: 'London', zip: 'W1' }, ['countess', 'mathematician']])
    await page.getByText('Seats: 12 → not set').waitFor()

    await act(page, 'Delete this user')
    const dialog = page.getByRole('dialog', { name: 'Delete Ada Lovelace?' })
    await dialog.getByLabel('Type the name').fill('Ada Lovelace')
    await dialog.getByLabel('Also erase').check()
    await press(dialog, 'Delete', 'Ada Lovelace was deleted.')
    await t.rejects(users.get(id), { code: 'user_not_found' })
    const events = await users.events.ofUser(id)
    t.ok(events.data.every(({ data }) => Object(data).name === null), 'erased')

    // The list is as it was left.
    await page.getByText('No user matches.').waitFor()
    await page.getByRole('link', { name: 'Users', exact: true }).click()
    await page.getByText('45 users').waitFor()
    await page.getByLabel('Select User 40', { exact: true }).check()
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByLabel('Select User 40', { exact: true }).waitFor({ state: 'detached' })
    await page.getByLabel('Select all users on this page').check()
    await page.getByText('21 users selected').waitFor()
    await page.getByRole('button', { name: 'Delete…' }).click()
    const bulk = page.getByRole('dialog', { name: 'Delete 21 users?' })
    await submit(bulk, { 'Type the number': '21' }, 'Delete', '21 users deleted')
    await page.getByText('24 users').waitFor()
  }, { skip: name !== stores.at(-1)?.name && from('nightly') })
}
