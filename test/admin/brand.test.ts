// The administration page with the title, logo and accent of its host.
import { test } from 'tap'
import { adminHost, openTab, signIn, skip, violations } from '../helpers/admin-page.ts'
import { until } from '../helpers/until.ts'

test('the host’s title and logo are where people sign in, at the top and on the tab', { skip }, async (t) => {
  const shape = '<script>alert(1)</script><path d="M0 0h8v8z"/>'
  const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">${shape}</svg>`
  const { users, origin, createKey } = await adminHost(t, { admin: { title: 'Acme & Söhne', logo } })
  const { id } = await users.create({ name: 'Olga Petrova', email: 'olga@example.org' })
  const { page, troubles } = await openTab(t, `${origin}/admin/#/users`)
  const logoIsShown = () => until('the logo is shown', async () =>
    await page.evaluate('document.querySelector(".brand img").naturalWidth > 0') === true)
  t.equal(await page.title(), 'Acme & Söhne')
  t.equal(await page.locator('main .brand').innerText(), 'Acme & Söhne')
  await logoIsShown()
  await signIn(page, await createKey())
  t.equal(await page.locator('header .brand').innerText(), 'Acme & Söhne')
  await logoIsShown()
  t.equal(await page.title(), 'Users · Acme & Söhne')
  await page.goto(`${origin}/admin/#/users/${id}`)
  await until('the tab has the name', async () => await page.title() === 'Olga Petrova · Users · Acme & Söhne')
  t.match(await page.getAttribute('link[rel=icon]', 'href'), /^data:image\/svg\+xml;base64,/)
  t.strictSame(troubles, [])
})

test('the host’s accent can be read, whatever it is', { skip }, async (t) => {
  for (const accent of ['#ffcc00', '#000']) {
    const { users, origin, createKey } = await adminHost(t, { admin: { accent } })
    await users.create({ name: 'Ada Lovelace', email: 'ada@example.org' })
    const key = await createKey()
    const { page } = await openTab(t, `${origin}/admin/#/users`)
    await page.getByLabel('API key').waitFor()
    const check = async (view: string): Promise<void> => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        t.strictSame(await violations(page), [], `${accent}: ${view}, ${colorScheme}`)
      }
    }
    await check('sign-in')
    await signIn(page, key)
    await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
    await check('users')
  }
})
