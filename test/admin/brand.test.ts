// The administration page with the title, logo and accent of its host.
import { adminHost, openTab, pageTest, signIn, violations } from '../helpers/admin-page.ts'
import { from } from '../helpers/level.ts'
import { until } from '../helpers/until.ts'

pageTest('the host’s title and logo are where people sign in, at the top and on the tab', async (t) => {
  const shape = '<script>alert(1)</script><path d="M0 0h8v8z"/>'
  const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">${shape}</svg>`
  const { users, origin, createKey } = await adminHost(t, { admin: { title: 'Acme & Söhne', logo } })
  const { id } = await users.create({ name: 'Olga Petrova', email: 'olga@example.org' })
  const page = await openTab(t, `${origin}/admin/#/users`)
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
})

for (const [accent, skip] of [['#ffcc00', false], ['#000', from('nightly')]] as const) {
  pageTest(`the host’s accent can be read: ${accent}`, async (t) => {
    const { users, origin, createKey } = await adminHost(t, { admin: { accent } })
    await users.create({ name: 'Ada Lovelace', email: 'ada@example.org' })
    const page = await openTab(t, `${origin}/admin/#/users`)
    await page.getByLabel('API key').waitFor()
    const check = async (view: string): Promise<void> => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        t.strictSame(await violations(page), [], `${view}, ${colorScheme}`)
      }
    }
    await check('sign-in')
    await signIn(page, await createKey())
    await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
    await check('users')
  }, { skip })
}
