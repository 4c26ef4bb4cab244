// The administration page: users of a file.
import type { Locator } from 'playwright-core'
import { adminHost, downloaded, focused, openTab, pageTest, press, signIn, submit } from '../helpers/admin-page.ts'
import { until } from '../helpers/until.ts'

const refusals = async (dialog: Locator) =>
  (await dialog.getByRole('listitem').allInnerTexts()).map((text) => text.replaceAll(/[\u2068\u2069]/g, ''))

pageTest('imports a file after it was checked, and can take back what it made', async (t) => {
  const { users, enter } = await adminHost(t)
  await users.create({ name: 'Ada', email: 'ada@example.org' })
  const page = await enter()
  await page.getByRole('button', { name: 'Import…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Import users' })
  await press(dialog, 'Check', 'Choose a file first.')
  const choose = (name: string, text: string) =>
    dialog.getByLabel('File').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })
  await choose('users.csv', 'who,where\nBob,Oslo\n')
  await dialog.getByRole('button', { name: 'Check' }).click()
  await dialog.getByRole('alert').waitFor()
  t.equal(await dialog.getByRole('alert').innerText(), 'Name: This is required. E-mail address: This is required.',
    'the header is refused, with what it lacks')
  t.equal(await dialog.getByRole('button', { name: 'Import' }).isDisabled(), true)
  const rows = [
    'name,email,seats', 'Bob,bob@example.org,5', 'Ada King,ada@example.org,7', '"Cyd\nX",cyd@example.org,x',
    'Dan,dan@example.org,y', 'Eve,eve,1', 'Fay,fay@example.org,z'
  ]
  await choose('users.csv', rows.join('\n'))
  await dialog.getByLabel('Users who already exist').selectOption('update these users')
  await press(dialog, 'Check', '1 would be created, 1 changed, 0 left as they are, 4 refused.')
  t.equal(await focused(page), '1 would be created, 1 changed, 0 left as they are, 4 refused.')
  await dialog.getByText(/\(.*Dan.*\)/).waitFor()
  const lines = await refusals(dialog)
  const [both = '', seats = '', email = ''] = lines
  t.match(both, /^Line 4 \(Cyd\s+X\): Name: This has characters.* Seats: This must/)
  t.match(seats, /^2 lines: 6 \(Dan\), 8 \(Fay\): Seats: This must be/, 'those with the same fault together')
  t.equal(email, 'Line 7 (Eve): E-mail address: This does not have the right format.')
  const saved = await downloaded(page, () => dialog.getByRole('button', { name: 'Save the refused lines' }).click())
  t.equal(saved.name, 'refused-users.csv')
  const ends = [
    /,"Refused because"$/, /,"Name: .*Seats: This must.*"$/, /,"Seats: .*"$/, /,"E-mail address: .*"$/, /,"Seats: .*"$/
  ]
  const [, header = '', cyd = '', ...others] = /^(.*)\n("Cyd\nX".*)\n(.*)\n(.*)\n(.*)\n$/.exec(saved.text) ?? []
  for (const [i, line] of [header, cyd, ...others].entries()) t.match(line, ends[i])
  t.strictSame([header, cyd, ...others].map((line) => line.replace(/,"[^"]*"$/, '')), [rows[0], ...rows.slice(3)])
  await choose('refused-users.csv', saved.text)
  await dialog.getByText('Columns that are not imported: Refused because').waitFor()
  await press(dialog, 'Check', '0 would be created, 0 changed, 0 left as they are, 4 refused.')
  const again = await downloaded(page, () => dialog.getByRole('button', { name: 'Save the refused lines' }).click())
  t.equal(again.text, saved.text, 'the reasons of before make room for those of now')
  await choose('users.csv', rows.join('\n'))
  await press(dialog, 'Check', '1 would be created, 1 changed, 0 left as they are, 4 refused.')
  await dialog.getByRole('button', { name: 'Save the refused lines' }).focus()
  t.equal((await users.list()).meta.total, 1, 'nothing is written by a check')
  t.equal(await focused(page), 'Save the refused lines')
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await dialog.getByText('1 created, 1 changed, 0 left as they are, 4 refused.').waitFor()
  t.equal(await focused(page), '1 created, 1 changed, 0 left as they are, 4 refused.')
  t.strictSame((await users.list()).data.map(({ name, seats }) => [name, seats]), [['Ada King', 7], ['Bob', 5]])
  await dialog.getByRole('button', { name: 'Undo the import: delete the new users…' }).click()
  const question = page.getByRole('dialog')
  await submit(question, { 'Type the number of users': '1' }, 'Delete', 'was deleted.')
  await page.getByText('1 user', { exact: true }).waitFor()
  t.strictSame((await users.list()).data.map(({ name }) => name), ['Ada King'], 'what was changed stays')
})

pageTest('guesses which columns of a file are which members, and imports what is chosen', async (t) => {
  const { users, enter } = await adminHost(t)
  const page = await enter()
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
  await press(dialog, 'Check', '1 would be created, 0 changed, 0 left as they are, 0 refused.')
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await dialog.getByText('1 created, 0 changed, 0 left as they are, 0 refused.').waitFor()
  t.strictSame((await users.list()).data.map(({ name, email, seats }) => [name, email, seats]),
    [['Bob Ray', 'bob@example.org', 5]])
})

pageTest('a file is dropped anywhere, kept when the chooser is cancelled, and refused unless it is text', async (t) => {
  const { users, origin, createKey } = await adminHost(t)
  const page = await openTab(t, `${origin}/admin/`, { width: 360, height: 640 })
  const drag = (type: string, name: string, text: string) => page.evaluate(`(() => {
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File([${JSON.stringify(text)}], '${name}'))
    const event = new DragEvent('${type}', { dataTransfer, bubbles: true, cancelable: true })
    document.elementFromPoint(3, 3).dispatchEvent(event)
    return event.defaultPrevented
  })()`)
  await page.getByLabel('API key').waitFor()
  t.equal(await drag('drop', 'users.csv', ''), true, 'the browser does not leave the page for the file')
  await signIn(page, await createKey())
  await page.getByRole('button', { name: 'Import…' }).waitFor()
  await until('the list takes a file', async () => {
    await drag('dragover', 'people.ndjson', '')
    return await page.getByText('Drop the file to import its users.').count() === 1
  })
  const people = [{ name: 'Ada', email: 'ada@example.org', seats: 5 }, { name: 'Bob', email: 'bob', seats: 0 }]
  await drag('drop', 'people.ndjson', `${people.map((each) => JSON.stringify(each)).join('\n')}\n{"name":\n`)
  const dialog = page.getByRole('dialog', { name: 'Import users' })
  const input = dialog.getByLabel('File')
  const chosen = async () => (await input.inputValue()).replace(/^.*\\/, '')
  await until('it is shown where a chosen one stands', async () => await chosen() === 'people.ndjson')
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), input.click()])
  t.ok(chooser)
  t.equal(await chosen(), '', 'the same file is a change')
  await input.dispatchEvent('cancel', { bubbles: true })
  t.equal(await chosen(), 'people.ndjson')

  await press(dialog, 'Check', '1 would be created, 0 changed, 0 left as they are, 2 refused.')
  const lines = await refusals(dialog)
  t.match(lines[0], /^Line 2 \(Bob\): E-mail address: This does not have the right format\. Seats: This must be/)
  t.equal(lines[1], 'Line 3: This is not valid JSON, or not in UTF-8.')
  const start = dialog.getByRole('button', { name: 'Import', exact: true })
  const { y, height } = Object(await start.boundingBox())
  t.ok(y >= 0 && y + height <= 640, 'the next button is in view')
  await start.click()
  await dialog.getByText('1 created, 0 changed, 0 left as they are, 2 refused.').waitFor()
  await dialog.getByRole('link', { name: 'Show the new users' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('1 user', { exact: true }).waitFor()
  t.equal(await page.evaluate('location.hash'), '#/users?sort=-createdAt')
  t.strictSame((await users.list()).data.map(({ name, seats }) => [name, seats]), [['Ada', 5]])

  await page.getByRole('button', { name: 'Import…' }).click()
  await until('the dialog takes a file', async () => {
    await drag('dragover', 'ada.png', '')
    return await dialog.locator('form.over').count() === 1
  })
  await drag('drop', 'ada.png', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR')
  await dialog.getByText('This is not a CSV or NDJSON file.').waitFor()
  await dialog.getByRole('button', { name: 'Check' }).click()
  t.equal(await dialog.getByRole('alert').innerText(), 'This is not a CSV or NDJSON file.')
  await drag('drop', 'ada.csv', 'name,email\nAda,ada@example.org\n')
  await dialog.getByLabel('Users who already exist').selectOption('leave these users as they are')
  await press(dialog, 'Check', '0 would be created, 0 changed, 1 left as they are, 0 refused.')
  t.equal(await start.isDisabled(), true, 'there is nothing to import')
})

pageTest('saves refused lines of JSON with their reasons, and takes the mended file again', async (t) => {
  const { users, enter } = await adminHost(t)
  const page = await enter()
  await page.getByRole('button', { name: 'Import…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Import users' })
  const choose = (name: string, text: string) =>
    dialog.getByLabel('File').setInputFiles({ name, mimeType: 'application/x-ndjson', buffer: Buffer.from(text) })
  const check = async (counts: string): Promise<void> => {
    await press(dialog, 'Check', `${counts} refused.`)
  }
  const save = () => downloaded(page, () => dialog.getByRole('button', { name: 'Save the refused lines' }).click())
  const bob = '{ "name": "Bob", "email": "bob", "seats": 1.0'
  await choose('people.ndjson', `{"name":"Ada","email":"ada@example.org","seats":5}\n${bob} }\n{}\n{"name":\n`)
  await check('1 would be created, 0 changed, 0 left as they are, 3')
  const saved = await save()
  const email = '"Refused because":"E-mail address: This does not have the right format."}'
  const missing = '{"Refused because":"Name: This is required. E-mail address: This is required."}'
  t.equal(saved.text, `${bob} ,${email}\n${missing}\n{"name":\n`)
  await choose('refused-people.ndjson', saved.text)
  await dialog.getByText('Columns that are not imported: Refused because').waitFor()
  await check('0 would be created, 0 changed, 0 left as they are, 3')
  t.equal((await save()).text, saved.text, 'the reasons of before make room for those of now')
  await choose('refused-people.ndjson', saved.text.replace('"bob"', '"bob@example.org"').replace('1.0', '1.0, "x": 1'))
  await check('0 would be created, 0 changed, 0 left as they are, 3')
  t.match(await refusals(dialog), [/^Line 1 \(Bob\): x: /, /^Line 2: /, /^Line 3: /], 'what else is unknown is refused')
  await choose('refused-people.ndjson', saved.text.replace('"bob"', '"bob@example.org"'))
  await check('1 would be created, 0 changed, 0 left as they are, 2')
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await dialog.getByText('1 created, 0 changed, 0 left as they are, 2 refused.').waitFor()
  t.match((await users.list()).data, [{ name: 'Bob', seats: 1 }])
})

pageTest('asks for the encoding of a file, and says what the server says of its form', async (t) => {
  const { users, enter } = await adminHost(t, { trash: true })
  const page = await enter()
  await page.getByRole('button', { name: 'Import…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Import users' })
  const text = 'name;email;note\r\nZoë Müller;zoe@example.org;\u20ac 5\r\nJosé;jose@example.org;x\r\n'
  const buffer = Buffer.from(text.replace('\u20ac', '\x80'), 'latin1')
  await dialog.locator('input[type=file]').setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer })
  await dialog.getByText('The file is not in UTF-8. Choose the encoding').waitFor()
  await dialog.getByRole('button', { name: 'Check' }).click()
  t.equal(await dialog.getByRole('alert').innerText(), 'Choose the encoding of the file first.')
  const encoding = dialog.getByLabel('Encoding of the file')
  await encoding.selectOption('Windows-1251')
  await dialog.getByText('In this encoding it contains:').waitFor()
  await encoding.selectOption('Windows-1252, Latin-1')
  await dialog.getByText(/it contains: \u2068Zoë, Müller, €, José\u2069/).waitFor()
  await press(dialog, 'Check', '2 would be created, 0 changed, 0 left as they are, 0 refused.')
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await dialog.getByText('2 created, 0 changed, 0 left as they are, 0 refused.').waitFor()
  t.strictSame((await users.list()).data.map(({ name, note }) => [name, note]),
    [['Zoë Müller', '€ 5'], ['José', 'x']])

  const [zoe] = (await users.list({ q: 'Zoë' })).data
  await users.update(zoe?.id ?? '', { seats: 3 })
  await dialog.getByRole('button', { name: 'Undo' }).click()
  await press(page.getByRole('dialog'), 'Delete', '1 done, 1 refused, 0 not tried.')
  t.strictSame((await users.list()).data.map(({ name }) => name), ['Zoë Müller'], 'who was changed since is kept')
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()

  await page.getByRole('button', { name: 'Import…' }).click()
  const check = async (text: string): Promise<void> => {
    await dialog.locator('input[type=file]')
      .setInputFiles({ name: 'x.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
    await dialog.getByRole('button', { name: 'Check' }).click()
  }
  await check('name,email\rAda,ada@example.org\r')
  await dialog.getByText('its lines must end with LF or CR LF.').waitFor()
  await check('PK\x03\x04 is a workbook')
  await dialog.getByText('but is a workbook of a spreadsheet program: save it as CSV.').waitFor()
  await check('name,email\nAda,ada@example.org,x\nBob,"bob@"example.org\n')
  await dialog.getByText('This must have 2 cells, like the header, but has 3.').waitFor()
  t.strictSame(await refusals(dialog), [
    'Line 2 (Ada): This must have 2 cells, like the header, but has 3.',
    'Line 3 (Bob): This must use quotation marks as in RFC 4180: around whole cells, and doubled inside them.'
  ])
})
