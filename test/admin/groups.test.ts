// Groups on the administration page.
import {
  act, actOnRow, adminHost, pageTest, press, scrollsSideways, submit, violations
} from '../helpers/admin-page.ts'
import { until } from '../helpers/until.ts'

pageTest('creates a group, fills it, renames it, and shows it at its members', async (t) => {
  const { users, enter } = await adminHost(t, { groups: true })
  await users.create({ name: 'Ada Lovelace', email: 'ada@example.org' })
  await users.create({ name: 'Bob Roy', email: 'bob@example.org' })
  const page = await enter('#/groups')
  const dialog = page.getByRole('dialog')
  await page.getByText('There are no groups yet.').waitFor()
  await page.getByRole('button', { name: 'New group' }).click()
  await submit(dialog, { Name: 'Editors' }, 'Create the group')
  await page.getByRole('button', { name: 'New group' }).click()
  await submit(dialog, { Name: 'editors' }, 'Create the group', 'Another group has this name.')
  t.strictSame(await violations(page), [])
  await dialog.getByRole('button', { name: 'Cancel' }).click()

  await page.getByRole('link', { name: 'Editors' }).click()
  await page.getByText('This group has no members.').waitFor()
  for (const name of ['Ada', 'Bob']) {
    await page.getByRole('button', { name: 'Add a member' }).click()
    await dialog.getByLabel('Search by name').fill(name)
    await dialog.getByRole('button', { name }).click()
    await page.getByText(`${name === 'Ada' ? 'Ada Lovelace' : 'Bob Roy'} is a member now.`).waitFor()
  }
  await page.getByText('2 users').first().waitFor()
  const [group] = (await users.groups.list()).data
  if (group === undefined) throw new Error('there is no group')
  t.match(group, { name: 'Editors', members: 2 })
  t.strictSame([await violations(page), await scrollsSideways(page)], [[], false])

  await actOnRow(page, 'Ada Lovelace', 'Remove from the group')
  await page.getByText('Ada Lovelace is no member any more.').waitFor()
  await until('she has left', async () => (await users.groups.get(group.id))?.members === 1)
  await page.getByRole('button', { name: 'Undo' }).click()
  await until('she is back', async () => (await users.groups.get(group.id))?.members === 2)
  await page.getByText('2 users').first().waitFor()

  await act(page, 'Rename…')
  await submit(dialog, { Name: 'Authors' }, 'Save')
  await page.getByRole('heading', { name: 'Authors' }).waitFor()
  await page.getByRole('link', { name: 'Ada Lovelace' }).click()
  await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor()
  await page.getByRole('link', { name: 'Authors' }).click()
  await page.getByRole('heading', { name: 'Authors' }).waitFor()

  await act(page, 'Delete the group…')
  await dialog.getByText('Its members stay users.').waitFor()
  await press(dialog, 'Delete the group', 'There are no groups yet.')
})

pageTest('lists groups by name, finds one, and offers no change without the scope', async (t) => {
  const { users, enter } = await adminHost(t, { groups: true })
  for (const name of ['Staff', 'Board', 'Ärzte']) await users.groups.create({ name })
  const page = await enter('#/groups', { scopes: ['users:read', 'groups:read'], width: 390 })
  const names = page.getByRole('table').getByRole('link')
  await names.first().waitFor()
  t.strictSame(await names.allInnerTexts(), ['Ärzte', 'Board', 'Staff'])
  t.equal(await page.getByRole('button', { name: 'New group' }).count(), 0)
  t.strictSame([await violations(page), await scrollsSideways(page)], [[], false])
  await page.getByLabel('Find a group by its whole name').fill('arzte')
  await until('one is left', async () => await names.count() === 1)
  await page.getByLabel('Find a group by its whole name').fill('nobody')
  await page.getByText('No group has this name.').waitFor()
})
