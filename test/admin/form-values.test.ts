// Values in forms of the administration page: what a browser shows of them, and what is stored of what was typed.
import { Type } from '@sinclair/typebox'
import { type Page } from 'playwright-core'
import {
  adminHost, type AdminHost, edit, fillIn, hold, pageTest, press, submit, violations
} from '../helpers/admin-page.ts'
import { until } from '../helpers/until.ts'

const ADA = { name: 'Ada', email: 'ada@example.org' }
const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true }).click()
const saved = async (page: Page): Promise<void> => {
  const isSaved = page.waitForResponse((answer) =>
    ['PATCH', 'PUT'].includes(answer.request().method()) && answer.status() === 200)
  await Promise.all([isSaved, save(page)])
}

/** A tab with the form of a user, and the stored fields of that user. */
async function openForm ({ users, enter }: AdminHost, values: object) {
  const { id } = await users.create({ ...ADA, ...values })
  const page = await enter(`#/users/${id}`)
  await edit(page)
  const stored = async (): Promise<object> => {
    const user = Object(await users.get(id))
    const { id: _id, name, email, status, statusReason, version, createdAt, updatedAt, ...fields } = user
    return fields
  }
  return { page, stored }
}

pageTest('a date that is typed in part, or too large a number, is a fault, and removes nothing', async (t) => {
  const host = await adminHost(t)
  const { page, stored } = await openForm(host, { born: '2000-02-03', seen: '2026-01-02T03:04:05.678Z' })
  const before = await stored()
  for (const label of ['Born', 'Seen']) {
    await page.getByLabel(label).focus()
    await page.keyboard.press('Backspace')
    t.equal(await page.getByLabel(label).inputValue(), '')
    await save(page)
    await page.getByText('This is not complete.').waitFor()
    t.equal(await page.getByLabel(label).getAttribute('aria-invalid'), 'true')
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByText('This is not complete.').waitFor({ state: 'detached' })
    await edit(page)
    t.not(await page.getByLabel(label).inputValue(), '')
  }
  await page.getByLabel('Seats').fill('1e400')
  await save(page)
  await page.getByText('must be a whole number').waitFor()
  t.strictSame(await stored(), before)
  await page.getByRole('button', { name: 'Discard' }).click()
  await edit(page)
  await fillIn(page, { Born: '', Note: 'x' })
  await saved(page)
  t.strictSame(await stored(), { active: true, note: 'x', plan: 'free', seen: '2026-01-02T03:04:05.678Z' })

  await page.goto(`${host.origin}/admin/#/users/new`)
  await fillIn(page, { Name: 'Bob', 'E-mail address': 'bob@example.org' })
  await page.getByLabel('Born').focus()
  await page.keyboard.type('0203')
  await press(page, 'Create the user', 'This is not complete.')
  t.equal((await host.users.list()).meta.total, 1)
})

pageTest('keeps what is typed while a save is under way', async (t) => {
  const host = await adminHost(t)
  const { page, stored } = await openForm(host, { note: 'old', seats: 1 })
  const { sent, release } = await hold(page, 'PATCH', /\/users\/usr_/)
  await fillIn(page, { Seats: '2', City: 'Oslo' })
  await save(page)
  await until('it is under way', () => sent.length === 1)
  await fillIn(page, { Note: 'typed meanwhile', zip: '0150' })
  release()
  await page.getByText('Saved.').waitFor()
  t.equal(await page.getByLabel('Note').inputValue(), 'typed meanwhile')
  t.strictSame(await stored(), { active: true, address: { city: 'Oslo' }, note: 'old', plan: 'free', seats: 2 })
  await page.getByRole('button', { name: 'Discard' }).waitFor()
  await saved(page)
  t.strictSame(await stored(), {
    active: true, address: { city: 'Oslo', zip: '0150' }, note: 'typed meanwhile', plan: 'free', seats: 2
  })
})

pageTest('sets null, and leaves out objects that nobody has filled in', async (t) => {
  const host = await adminHost(t, {
    fields: {
      schema: Type.Object({
        rank: Type.Union([Type.Integer(), Type.Null()]),
        vip: Type.Union([Type.Boolean(), Type.Null()]),
        nick: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        home: Type.Optional(Type.Object({ city: Type.String(), country: Type.String({ default: 'NO' }) })),
        plan: Type.Optional(Type.String({ default: 'free' }))
      }),
      filterable: []
    }
  })
  const page = await host.enter('#/users/new')
  await submit(page, { Name: 'Ada', 'E-mail address': 'ada@example.org' }, 'Create the user', 'Ada was created.')
  await edit(page)
  const stored = async () => {
    const [{ rank, vip, nick, home, plan } = Object({})] = (await host.users.list()).data.map(Object)
    return { rank, vip, nick, home, plan }
  }
  const absent = { home: undefined, plan: 'free' }
  t.strictSame(await stored(), { ...absent, rank: null, vip: null, nick: undefined })
  await page.getByRole('checkbox', { name: 'rank: No value (null)' }).waitFor()
  t.strictSame(await violations(page), [])
  t.equal(await page.getByLabel('vip').inputValue(), 'null')
  await page.getByRole('textbox', { name: 'rank' }).fill('5')
  await page.getByLabel('vip').selectOption('Yes')
  await saved(page)
  t.strictSame(await stored(), { ...absent, rank: 5, vip: true, nick: undefined })
  await edit(page)
  await page.getByRole('textbox', { name: 'rank' }).fill('')
  t.ok(await page.getByRole('checkbox', { name: 'rank: No value (null)' }).isChecked())
  await page.getByRole('checkbox', { name: 'nick: No value (null)' }).check()
  const questions: string[] = []
  page.on('dialog', (dialog) => {
    questions.push(dialog.message())
    if (questions.length === 1) dialog.dismiss()
    else dialog.accept()
  })
  await save(page)
  await until('the page asks', () => questions.length === 1)
  t.strictSame(await stored(), { ...absent, rank: 5, vip: true, nick: undefined })
  await saved(page)
  t.match(questions, Array(2).fill(/^This null can only be saved by replacing the whole user\./))
  t.strictSame(await stored(), { ...absent, rank: null, vip: true, nick: null })
})

pageTest('leaves the focus where the person has gone, however late the page is drawn', async (t) => {
  const host = await adminHost(t)
  const { page, stored } = await openForm(host, { seats: 1 })
  await page.getByLabel('Seats').waitFor()
  const focused = await page.evaluate(`(async () => {
    const click = async (name) => {
      [...document.querySelectorAll('button')].find(({ textContent }) => textContent === name).click()
      await null
      await null
    }
    await click('Cancel')
    await click('Edit')
    document.querySelector('[name="/seats"]').focus()
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(drawn))))
    return document.activeElement.name
  })()`)
  t.equal(focused, '/seats')
  await page.keyboard.press('Control+End')
  await page.keyboard.type('2')
  await saved(page)
  t.match(await stored(), { seats: 12 })
})
