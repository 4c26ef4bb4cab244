// Forms of the administration page: nothing typed is lost, and nothing is overwritten unseen.
import { act, adminHost, edit, fillIn, hold, openTab, pageTest, press, signIn, submit } from '../helpers/admin-page.ts'
import { until } from '../helpers/until.ts'

pageTest('shows both sides of a change that somebody else made meanwhile', async (t) => {
  const { users, enter } = await adminHost(t)
  const { id } = await users.create({
    name: 'Ada', email: 'ada@example.org', seats: 1, note: 'old', address: { city: 'London' }
  })
  const page = await enter(`#/users/${id}`)
  await edit(page)
  await fillIn(page, { Name: 'Ada King', City: 'Paris', Note: 'mine' })
  await users.update(id, { name: 'Ada Byron', note: 'theirs', seats: 9 })
  await page.getByRole('button', { name: 'Save' }).click()
  const dialog = page.getByRole('dialog', { name: 'Somebody else has changed this user' })
  await dialog.getByText(/^The server itself changed the user/).waitFor()
  const checked = async (name: string) => dialog.getByRole('radio', { name }).isChecked()
  t.strictSame(
    await Promise.all(['Seats, Theirs', 'address, Yours', 'Name, Yours', 'Name, Theirs'].map(checked)),
    [true, true, false, false],
    'chosen already, but for what both have changed'
  )
  await press(dialog, 'Save what I chose', 'Choose one for each field first.')
  await dialog.getByRole('radio', { name: 'Name, Yours' }).check()
  await dialog.getByRole('radio', { name: 'Note, Theirs' }).check()
  // And again, before the choice is saved.
  await users.update(id, { seats: 10 })
  await dialog.getByRole('button', { name: 'Save what I chose' }).click()
  await until('theirs are shown', async () => await dialog.getByText('10').count() === 1)
  await dialog.getByRole('radio', { name: 'Name, Yours' }).check()
  await dialog.getByRole('radio', { name: 'Note, Theirs' }).check()
  const { sent, release } = await hold(page, 'PATCH', /\/v1\/users\/usr_/)
  await dialog.getByRole('button', { name: 'Save what I chose' }).dblclick()
  await until('the choice is sent', () => sent.length > 0)
  release()
  await page.getByText('Saved.').waitFor()
  t.equal(sent.length, 1, 'a double click saves once')
  await dialog.waitFor({ state: 'detached' })
  const { name, note, seats, address } = Object(await users.get(id))
  t.strictSame(
    { name, note, seats, address },
    { name: 'Ada King', note: 'theirs', seats: 10, address: { city: 'Paris' } }
  )
  await edit(page)
  t.equal(await page.getByLabel('Seats').inputValue(), '10')

  await users.update(id, { seats: 11 })
  await act(page, 'Delete this user')
  await page.getByLabel('Type the name').fill('Ada King')
  await press(page.getByRole('dialog'), 'Delete', 'Somebody else has changed this user in the meantime.')
  await until('the form has the new version', async () => await page.getByLabel('Seats').inputValue() === '11')
})

pageTest('what is required says so, before and after; and a form that is sent twice makes one user', async (t) => {
  const { users, enter } = await adminHost(t)
  const page = await enter('#/users/new')
  t.equal(await page.locator('label', { hasText: 'Name' }).innerText(), 'Name required')
  await page.getByText('Such as name@example.org.').waitFor()
  await page.getByText('A whole number from 1 to 500.').waitFor()
  await page.getByRole('button', { name: 'Create the user' }).click()
  await page.getByText('This is required.').first().waitFor()
  t.equal(await page.getByText('This is required.').count(), 2)
  t.equal(await page.evaluate('document.activeElement.name'), '/name', 'the first one has the focus')

  await fillIn(page, { Name: 'Ada', 'E-mail address': 'ada@example.org' })
  // The first answer is lost on its way.
  let lost = 0
  await page.route(/\/v1\/users$/, async (route) => {
    if (lost++ > 0) return route.continue()
    await route.fetch()
    await route.abort()
  })
  await press(page, 'Create the user', 'The server could not be reached.')
  await press(page, 'Create the user', 'Ada was created.')
  t.equal((await users.list()).meta.total, 1)
}, { makesTroubles: true })

pageTest('a save that fails does not look saved', async (t) => {
  const { users, enter } = await adminHost(t)
  const { id } = await users.create({ name: 'Ada', email: 'ada@example.org' })
  const page = await enter(`#/users/${id}`, { height: 500 })
  await edit(page)
  await submit(page, { Note: 'one' }, 'Save', 'Saved.')
  await edit(page)
  await page.getByLabel('Note').fill('two')
  await page.getByText('1 change', { exact: true }).waitFor()
  for (const [fail, words] of [
    ['abort', 'The server could not be reached.'], [500, 'The server answered with status 500.']
  ] as const) {
    await page.route(/\/users\/usr_/, (route) => fail === 'abort' ? route.abort() : route.fulfill({ status: fail }))
    await page.getByRole('button', { name: 'Save' }).click()
    const alert = page.getByRole('alert').filter({ hasText: words })
    await alert.waitFor()
    t.equal(await page.getByText('Saved.').count(), 0)
    const { y, height } = Object(await alert.boundingBox())
    t.ok(y >= 0 && y + height <= 500, 'it is in view')
    t.equal(await page.getByLabel('Note').inputValue(), 'two')
    await page.unroute(/\/users\/usr_/)
  }
  t.match(await users.get(id), { note: 'one' })
}, { makesTroubles: true })

pageTest('a late response does not navigate away from the page that the person has opened since', async (t) => {
  const { users, origin, createKey } = await adminHost(t)
  const page = await openTab(t, `${origin}/admin/#/users/new`)
  page.on('dialog', (dialog) => dialog.accept())
  await signIn(page, await createKey())
  const place = async () => await page.evaluate('location.hash')
  await fillIn(page, { Name: 'Ada', 'E-mail address': 'ada@example.org' })
  const creation = await hold(page, 'POST', /\/v1\/users$/)
  await page.getByRole('button', { name: 'Create the user' }).click()
  await until('the user is sent', () => creation.sent.length === 1)
  await page.getByRole('link', { name: 'API keys' }).click()
  await page.getByRole('table', { name: 'List of API keys' }).waitFor()
  creation.release()
  await page.getByText('Ada was created.').waitFor()
  t.equal(await place(), '#/api-keys')

  const [ada] = (await users.list()).data
  await page.evaluate(`location.hash = '#/users/${ada?.id}'`)
  await act(page, 'Delete this user')
  await page.getByLabel('Type the name').fill('Ada')
  const deletion = await hold(page, 'DELETE', /\/v1\/users\/usr_/)
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await until('the deletion is sent', () => deletion.sent.length === 1)
  await page.goBack()
  await page.getByRole('table', { name: 'List of API keys' }).waitFor()
  deletion.release()
  await page.getByText('Ada was deleted.').waitFor()
  t.equal(await place(), '#/api-keys')
})
