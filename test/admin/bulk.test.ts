// What is done to many users touches those alone who still are what the person has seen, and nobody by accident.
import { test } from 'tap'
import { act, adminHost, openTab, signIn, skip, violations } from '../helpers/admin-page.ts'

test('a change of many names and leaves alone who was changed meanwhile', { skip }, async (t) => {
  const { users, origin, createKey } = await adminHost(t, { trash: true })
  const ids = new Map<string, string>()
  for (const name of ['Ada', 'Bob', 'Cyd']) {
    ids.set(name, (await users.create({ name, email: `${name}@example.org` })).id)
  }
  const bob = ids.get('Bob') ?? ''
  const { page, troubles } = await openTab(t, `${origin}/admin/`)
  await signIn(page, await createKey())
  const dialog = page.getByRole('dialog')
  for (const [action, seats] of [['Suspend', 1], ['Activate', 2], ['Set a field', 3], ['Delete', 4]] as const) {
    if (action === 'Activate') {
      for (const id of ids.values()) await users.update(id, { status: 'suspended' })
    }
    await page.reload()
    await page.getByLabel('Select all users on this page').check()
    await users.update(bob, { seats })
    const { version } = await users.get(bob)
    await page.getByRole('button', { name: `${action}…` }).click()
    await dialog.getByRole('button', { name: action, exact: true }).click()
    await dialog.getByText('2 done, 1 refused, 0 not tried.').waitFor()
    await dialog.getByText('Changed by somebody else meanwhile, and left as they are').waitFor()
    t.strictSame(await dialog.getByRole('listitem').allInnerTexts(), ['Bob'], action)
    t.equal((await users.get(bob)).version, version, action)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('group', { name: 'What to do with the selected users' }).waitFor({ state: 'detached' })
  }
  t.strictSame((await users.list()).data.map(({ name }) => name), ['Bob'])

  // Ada is restored and deleted again between the selection and the question.
  const ada = ids.get('Ada') ?? ''
  await page.goto(`${origin}/admin/#/users/deleted`)
  await page.getByLabel('Select all users on this page').check()
  await users.restore(ada)
  await users.update(ada, { seats: 9 })
  await users.delete(ada)
  await page.getByRole('button', { name: 'Restore…' }).click()
  await dialog.getByRole('button', { name: 'Restore' }).click()
  await dialog.getByText('1 done, 1 refused, 0 not tried.').waitFor()
  t.strictSame(await dialog.getByRole('listitem').allInnerTexts(), ['Ada'])
  t.strictSame((await users.list()).data.map(({ name }) => name), ['Bob', 'Cyd'])
  t.strictSame(troubles.filter((each) => !each.includes('412')), [])
})

test('the undo of an import keeps who was changed since', { skip }, async (t) => {
  const { users, origin, createKey } = await adminHost(t, { trash: true })
  const { page } = await openTab(t, `${origin}/admin/`)
  await signIn(page, await createKey())
  await page.getByRole('button', { name: 'Import…' }).click()
  const dialog = page.getByRole('dialog')
  const buffer = Buffer.from('name,email,version\nAda,ada@example.org,7\nBob,bob@example.org,\n')
  await dialog.getByLabel('File').setInputFiles({ name: 'users.csv', mimeType: 'text/csv', buffer })
  await dialog.getByRole('button', { name: 'Check' }).click()
  await dialog.getByText('2 would be created').waitFor()
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await dialog.getByText('2 created').waitFor()
  const [bob] = (await users.list({ q: 'Bob' })).data
  await users.update(bob?.id ?? '', { seats: 3 })
  await dialog.getByRole('button', { name: 'Undo' }).click()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await dialog.getByText('1 done, 1 refused, 0 not tried.').waitFor()
  t.strictSame((await users.list()).data.map(({ name }) => name), ['Bob'])
})

test('a slash goes to the search, whoever is selected, and what is typed does nothing else', { skip }, async (t) => {
  const { users, origin, createKey } = await adminHost(t, { trash: true })
  for (const name of ['Ada', 'Dupont', 'Cyd']) await users.create({ name, email: `${name}@example.org` })
  const { page, troubles } = await openTab(t, `${origin}/admin/#/users`)
  await signIn(page, await createKey())
  await page.getByLabel('Select Ada').check()
  await page.getByLabel('Select Cyd').check()
  await page.keyboard.type('/dupont')
  await page.keyboard.press('Enter')
  await page.getByText('1 user', { exact: true }).waitFor()
  t.equal(await page.getByRole('searchbox').inputValue(), 'dupont')
  t.equal(await page.getByRole('dialog').count(), 0)
  t.equal((await users.list()).meta.total, 3)
  t.strictSame(troubles, [])
})

test('a deletion begins at Cancel, and the number of fifty is typed', { skip }, async (t) => {
  const { users, origin, createKey } = await adminHost(t, { trash: true, pageSize: { default: 50, max: 50 } })
  for (let i = 0; i < 50; i++) await users.create({ name: `User ${i}`, email: `user${i}@example.org` })
  const [first] = (await users.list()).data
  const { page, troubles } = await openTab(t, `${origin}/admin/#/users/${first?.id}`)
  await signIn(page, await createKey())
  const dialog = page.getByRole('dialog')
  const focused = async (): Promise<unknown> => page.evaluate('document.activeElement.textContent')
  await act(page, 'Delete this user…')
  t.equal(await focused(), 'Cancel', 'of one user')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await page.goto(`${origin}/admin/#/users?limit=50`)
  await page.getByLabel('Select User 0').check()
  await page.keyboard.press('d')
  await dialog.getByText('Delete 1 user?').waitFor()
  t.equal(await focused(), 'Cancel')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await page.getByLabel('Select all users on this page').check()
  for (const action of ['Delete', 'Suspend', 'Set a field']) {
    await page.getByRole('button', { name: `${action}…` }).click()
    await dialog.getByRole('button', { name: action, exact: true }).click()
    await dialog.getByText('This is not the number.').waitFor()
    await page.keyboard.press('Escape')
  }
  await page.getByRole('button', { name: 'Delete…' }).click()
  await dialog.getByLabel('Type the number').fill('50')
  await page.keyboard.press('Enter')
  await page.getByText('50 users deleted').waitFor()

  await page.goto(`${origin}/admin/#/api-keys`)
  await page.getByRole('button', { name: 'Revoke…' }).first().click()
  t.equal(await focused(), 'Cancel', 'of a key')
  t.strictSame(troubles, [])
})

test('the bar of a selection on a phone covers no name that has the focus', { skip }, async (t) => {
  const { users, origin, createKey } = await adminHost(t)
  for (let i = 0; i < 10; i++) await users.create({ name: `User ${i}`, email: `user${i}@example.org` })
  const { page } = await openTab(t, `${origin}/admin/`, { width: 360, height: 740 })
  await signIn(page, await createKey())
  await page.getByLabel('Select User 9').check()
  await page.getByText('1 user selected').waitFor()
  t.strictSame(await page.evaluate(`[...document.querySelectorAll('a.name')].filter((name) => {
    name.focus()
    return name.getBoundingClientRect().bottom > document.querySelector('.selection').getBoundingClientRect().top
  }).map(({ textContent }) => textContent)`), [])
  await page.evaluate('scrollTo(0, 0)')
  t.strictSame(await violations(page), [])
})
