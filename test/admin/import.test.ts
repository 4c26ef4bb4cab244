// The administration page: users of a file.
import { test } from 'tap'
import { adminHost, downloaded, openTab, signIn, skip } from '../helpers/admin-page.ts'

test('imports a file after it was checked, and can take back what it made', { skip }, async (t) => {
  const { users, origin, createKey } = await adminHost(t)
  await users.create({ name: 'Ada', email: 'ada@example.org' })
  const { page, troubles } = await openTab(t, `${origin}/admin/`)
  await signIn(page, await createKey())
  await page.getByRole('button', { name: 'Import…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Import users' })
  await dialog.getByRole('button', { name: 'Check' }).click()
  await dialog.getByText('Choose a file first.').waitFor()
  const choose = (name: string, text: string) =>
    dialog.getByLabel('File').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })
  await choose('users.csv', 'who,where\nBob,Oslo\n')
  await dialog.getByRole('button', { name: 'Check' }).click()
  await dialog.getByRole('alert').waitFor()
  t.match(await dialog.getByRole('alert').innerText(), /\bemail\b/, 'the header is refused, with the names to use')
  t.equal(await dialog.getByRole('button', { name: 'Import' }).isDisabled(), true)
  const rows = [
    'name,email,seats', 'Bob,bob@example.org,5', 'Ada King,ada@example.org,7', '"Cyd\nX",cyd@example.org,x',
    'Dan,dan@example.org,y', 'Eve,eve,1', 'Fay,fay@example.org,z'
  ]
  await choose('users.csv', rows.join('\n'))
  await dialog.getByLabel('Users that exist already').selectOption('change what differs')
  await dialog.getByRole('button', { name: 'Check' }).click()
  await dialog.getByText('1 would be created, 1 changed, 0 left as they are, 4 refused.').waitFor()
  const [both = '', seats = '', email = ''] = await dialog.getByRole('listitem').allInnerTexts()
  t.match(both, /^\/name This has characters.* \/seats This must.* line 4$/)
  t.match(seats, /^\/seats This must be.* 2 lines: 6, 8$/, 'those with the same fault together')
  t.match(email, /^\/email This does not have the right form\. line 7$/)
  t.strictSame(await downloaded(page, () => dialog.getByRole('button', { name: 'Save the refused lines' }).click()),
    { name: 'refused-users.csv', text: [rows[0], ...rows.slice(3), ''].join('\n') })
  t.equal((await users.list()).meta.total, 1, 'nothing is written by a check')
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await dialog.getByText('1 created, 1 changed, 0 left as they are, 4 refused.').waitFor()
  t.strictSame((await users.list()).data.map(({ name, seats }) => [name, seats]), [['Ada King', 7], ['Bob', 5]])
  await dialog.getByRole('button', { name: 'Undo: delete those that were created…' }).click()
  const question = page.getByRole('dialog')
  await question.getByLabel('Type the number of users').fill('1')
  await question.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('was deleted.').waitFor()
  await page.getByText('1 user', { exact: true }).waitFor()
  t.strictSame((await users.list()).data.map(({ name }) => name), ['Ada King'], 'what was changed stays')
  t.strictSame(troubles, [])
})

test('guesses which columns of a file are which members, and imports what is chosen', { skip }, async (t) => {
  const { users, origin, createKey } = await adminHost(t)
  const { page, troubles } = await openTab(t, `${origin}/admin/`)
  await signIn(page, await createKey())
  await page.getByRole('button', { name: 'Import…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Import users' })
  const text = 'sep=;\r\nFirst Name;Last Name;Mail;"Places; paid";Team\r\nBob;Ray;bob@example.org;5;red\r\n'
  await dialog.getByLabel('File').setInputFiles({
    name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(`\ufeff${text}`, 'utf16le')
  })
  await dialog.getByText('Columns that are not imported: Places; paid, Team').waitFor()
  const chosen = async (label: string) => dialog.getByLabel(label).locator('option:checked').innerText()
  t.strictSame([await chosen('Name'), await chosen('E-mail address'), await chosen('Seats')],
    ['First Name + Last Name', 'Mail', 'none'])
  await dialog.getByLabel('Seats').selectOption('Places; paid')
  await dialog.getByText('Columns that are not imported: Team').waitFor()
  await dialog.getByRole('button', { name: 'Check' }).click()
  await dialog.getByText('1 would be created, 0 changed, 0 left as they are, 0 refused.').waitFor()
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await dialog.getByText('1 created, 0 changed, 0 left as they are, 0 refused.').waitFor()
  t.strictSame((await users.list()).data.map(({ name, email, seats }) => [name, email, seats]),
    [['Bob Ray', 'bob@example.org', 5]])
  t.strictSame(troubles, [])
})
