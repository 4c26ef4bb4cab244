// What is done to many users touches those alone who still are what the person has seen, and nobody by accident.
import { act, actOnRow, adminHost, focused, pageTest, press } from '../helpers/admin-page.ts'

pageTest('a change of many names and leaves alone who was changed meanwhile', async (t) => {
  const { users, origin, enter } = await adminHost(t, { trash: true })
  const ids = new Map<string, string>()
  for (const name of ['Ada', 'Bob', 'Cyd', 'Dan']) {
    ids.set(name, (await users.create({ name, email: `${name}@example.org` })).id)
  }
  const bob = ids.get('Bob') ?? ''
  const page = await enter()
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
    await dialog.getByText('3 done, 1 refused, 0 not tried.').waitFor()
    await dialog.getByText('Not changed, because somebody else has changed these users in the meantime').waitFor()
    t.strictSame(await dialog.getByRole('listitem').allInnerTexts(), ['Bob'], action)
    t.equal((await users.get(bob)).version, version, action)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('group', { name: 'Actions for the selected users' }).waitFor({ state: 'detached' })
  }
  t.strictSame((await users.list()).data.map(({ name }) => name), ['Bob'])

  // Ada is restored and deleted again between the selection and the question, and another has the address of Cyd.
  const ada = ids.get('Ada') ?? ''
  await page.goto(`${origin}/admin/#/users/deleted`)
  await page.getByLabel('Select all users on this page').check()
  await users.restore(ada)
  await users.update(ada, { seats: 9 })
  await users.delete(ada)
  await users.create({ name: 'New Cyd', email: 'cyd@example.org' })
  await page.getByRole('button', { name: 'Restore…' }).click()
  await press(dialog, 'Restore', '1 done, 2 refused, 0 not tried.')
  const refused = await dialog.getByRole('listitem').allInnerTexts()
  t.strictSame(refused.sort(), ['Ada', 'Cyd: Another user has this e-mail address.'])
  await press(dialog, 'Close', '1 user selected')
  t.strictSame((await users.list()).data.map(({ name }) => name), ['Bob', 'Dan', 'New Cyd'])
})

pageTest('a deletion begins at Cancel, and the number of fifty is typed', async (t) => {
  const { users, origin, enter } = await adminHost(t, { trash: true, pageSize: { default: 50, max: 50 } })
  for (let i = 0; i < 50; i++) await users.create({ name: `User ${i}`, email: `user${i}@example.org` })
  const [first] = (await users.list()).data
  const page = await enter(`#/users/${first?.id}`)
  const dialog = page.getByRole('dialog')
  await act(page, 'Delete this user…')
  t.equal(await focused(page), 'Cancel', 'of one user')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await page.goto(`${origin}/admin/#/users?limit=50`)
  await page.getByLabel('Select User 0').check()
  await page.keyboard.press('d')
  await dialog.getByText(/^Delete .+\?$/).waitFor()
  t.equal(await focused(page), 'Cancel')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await page.getByLabel('Select all users on this page').check()
  for (const action of ['Delete', 'Suspend', 'Set a field']) {
    await page.getByRole('button', { name: `${action}…` }).click()
    await dialog.getByRole('button', { name: action, exact: true }).click()
    await dialog.getByText('This is not the number of users.').waitFor()
    await page.keyboard.press('Escape')
  }
  await page.getByRole('button', { name: 'Delete…' }).click()
  await dialog.getByLabel('Type the number').fill('50')
  await page.keyboard.press('Enter')
  await page.getByText('50 users deleted').waitFor()

  await page.goto(`${origin}/admin/#/api-keys`)
  await actOnRow(page, '', 'Revoke…')
  t.equal(await focused(page), 'Cancel', 'of a key')
})
