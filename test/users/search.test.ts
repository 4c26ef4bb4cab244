// Contract §5: `q` is folded as the names and addresses are that it finds, on every storage.
import { test } from 'tap'
import type { User } from '../../lib/index.ts'
import { testApp } from '../helpers/app.ts'
import { stores } from '../helpers/stores.ts'

for (const store of stores) {
  test(`q is folded as names and addresses are, on ${store.name}`, async (t) => {
    const { app, call } = await testApp(t, { storage: await store.create(t) })
    const found = async (q: string) =>
      (await call('GET', `/users?q=${encodeURIComponent(q)}`)).json().data.map(({ id }: User) => id)
    for (const [i, [name, ...texts]] of [
      ['Οδυσσέας', 'οδυσ', 'ΟΔΥΣ', 'οδυς', 'Οδυσσέας'],
      ['H̱ayim', 'ẖay', 'HAYI'],
      ['J̌anis', 'ǰan', 'janis'],
      ['José', 'Jose', 'JOSÉ', 'jose\u0301'],
      ['한글', '한', '하', 'ㅎ', '한글'],
      ['ﷺ'.repeat(200), 'صلي', 'ﷺ'.repeat(30)],
      ['각'.repeat(200), '각'.repeat(200)],
      ['𝒜🦊'.repeat(100), 'A🦊a'],
      ['Łukasz Ørsted', 'lukasz o']
    ].entries()) {
      const { id } = await app.users.create({ name: String(name), email: `Folded${i}@Example.org` })
      for (const text of [...texts, `ＦＯＬＤＥＤ${i}@e`]) t.strictSame(await found(text), [id], text)
    }
  })
}
