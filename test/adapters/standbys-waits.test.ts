// Which standby has the tables of the primary; how long reads with a token wait for one, and whom that keeps waiting.
import { test } from 'tap'
import { postgres } from '../../adapters/postgres.ts'
import { testApp } from '../helpers/app.ts'
import { run } from '../helpers/cli.ts'
import {
  ada, caughtUp, countCalls, openBehind, openReplicated, replicatedStorage, resumeReplay, tokenOf
} from '../helpers/replication.ts'

const OTHER_TABLES =
  /^its tables are not the primary’s: replicas must name the database of connection, with the same schema$/
test('a standby', async (t) => {
  const servers = await openReplicated(t, 1)
  const { primary, standby } = servers

  await t.test('is waited for by no token that the primary has not given', async (t) => {
    const { changed, get } = await openBehind(t, servers, 'forged', { replicaWaitMs: 5000 })
    const counts = countCalls(t)
    let isOver = false
    const honest = get({ 'consistency-token': tokenOf(changed) }).finally(() => { isOver = true })
    const forged = await Promise.all([1, 2, 3].map(() => get({ 'consistency-token': 'FFFFFFFF/FFFFFFFF' })))
    t.strictSame(forged.map(({ statusCode }) => statusCode), [200, 200, 200])
    t.equal(isOver, false, 'one that was given is waited for')
    t.equal(counts.get('users.find'), 3, 'the primary answers')
    await resumeReplay(standby)
    t.equal((await honest).json().name, 'Ada Lovelace')
  })

  await t.test('is waited for without a place of the limit', async (t) => {
    const limits = { inFlight: 1 }
    const { call, path, changed } = await openBehind(t, servers, 'places', { replicaWaitMs: 5000 }, { limits })
    const headers = { 'consistency-token': tokenOf(changed) }
    const waiting = ['/users', path, '/users/export'].map((each) => call('GET', each, { headers }))
    // A key has one export at a time, and it waits.
    for (const each of ['/users', path]) t.equal((await call('GET', each)).statusCode, 200, each)
    await resumeReplay(standby)
    for (const answer of await Promise.all(waiting)) {
      t.equal(answer.statusCode, 200)
      t.match(answer.body, '"Ada Lovelace"')
    }
  })

  await t.test('is left alone where the copy of a database is used, and it names the old one', async (t) => {
    await primary.sql('CREATE DATABASE accounts')
    const old = postgres({ connection: primary.url.replace(/postgres$/, 'accounts') })
    await old.open({ migrate: true })
    await old.close()
    // A template keeps more than a dump does: the number of each table too.
    await primary.sql('CREATE DATABASE accounts_restored TEMPLATE accounts')
    await caughtUp(servers, standby)
    const named = (url: string, name: string) => ({ ...servers.primary, url: url.replace(/postgres$/, name) })
    const { storage, reported } = await replicatedStorage(
      { primary: named(primary.url, 'accounts_restored'), standbys: [named(standby.url, 'accounts')] })
    const { call } = await testApp(t, { storage })
    await reported(OTHER_TABLES)
    const created = await call('POST', '/users', { payload: ada })
    const headers = { 'consistency-token': tokenOf(created) }
    t.equal((await call('GET', '/users', { headers })).json().meta.total, 1)
    t.equal((await call('GET', `/users/${created.json().id}`)).statusCode, 200)
    t.match((await call('GET', '/users/export')).body, /"Ada"/)
  })

  await t.test('is left alone where its search path leads to another schema, or to none', async (t) => {
    for (const schema of ['first', 'second']) {
      const storage = postgres({ connection: primary.url, schema })
      await storage.open({ migrate: true })
      await storage.close()
    }
    await caughtUp(servers, standby)
    const on = (url: string, schema: string) => `${url}?options=-c%20search_path%3D${schema}`
    for (const [schema, problem] of [['first', null], ['second', OTHER_TABLES], ['none', OTHER_TABLES]] as const) {
      const { storage, reported } = await replicatedStorage({
        primary: { ...primary, url: on(primary.url, 'first') },
        standbys: [{ ...standby, url: on(standby.url, schema) }]
      })
      t.teardown(() => storage.close())
      await storage.open()
      await reported(problem)
      t.equal(await storage.server.standbys?.reads() !== null, problem === null, schema)
    }
  })

  await t.test('is read by commands, and a command that writes says what the server is', async (t) => {
    await primary.sql('CREATE TABLE first.people AS SELECT 1 AS id, $1 AS name, $2 AS email', [ada.name, ada.email])
    await caughtUp(servers, standby)
    const cli = (...args: string[]) => run([...args, '--schema', 'first', '-d', standby.url])
    const map = 'name=name,email=email'
    const refused = {
      code: 3, out: '', err: 'the database accepts no writes: it is a standby, or is set to be read-only (25006)\n'
    }
    t.match(await cli('users', 'list'), { code: 0 })
    t.match(await cli('migrate'), { code: 0, out: 'The schema is at version 1 already.\n' })
    t.match(await cli('check'), { code: 0 })
    t.strictSame(await cli('check', '--fix'), refused)
    t.strictSame(await cli('keys', 'create', '--name', 'ops'), refused)
    t.match(await cli('adopt', '--table', 'first.people', '--map', map, '--dry-run'), { code: 0 })
    t.match(await cli('adopt', '--table', 'first.people', '--map', map), { code: 3, err: refused.err })
  })
})
