// How long reads with a token wait for a standby, and whom that keeps waiting.
import { test, type Test } from 'tap'
import { testApp } from '../helpers/app.ts'
import {
  caughtUp, countCalls, openReplicated, pauseReplay, type Replicated, replicatedStorage, resumeReplay, tokenOf
} from '../helpers/replication.ts'

const ada = { name: 'Ada', email: 'ada@example.org' }

/** A server whose standby is behind a change of the one user, and the token of that change. */
async function openBehind (t: Test, servers: Replicated, schema: string, options: object = {}) {
  const [standby] = servers.standbys
  if (standby === undefined) throw new Error('there is no standby')
  const { storage, reported } = await replicatedStorage(servers, { schema, replicaWaitMs: 5000 })
  const { call } = await testApp(t, { storage, ...options })
  await reported(null)
  const { id } = (await call('POST', '/users', { payload: ada })).json()
  await caughtUp(servers, standby)
  await pauseReplay(standby)
  t.teardown(() => resumeReplay(standby))
  const headers = { 'consistency-token': tokenOf(await call('PATCH', `/users/${id}`, { payload: { name: 'Ann' } })) }
  return { call, headers, id, resume: () => resumeReplay(standby) }
}

test('waits', async (t) => {
  const servers = await openReplicated(t, 1)

  await t.test('for no token that the primary has not given', async (t) => {
    const { call, headers, id, resume } = await openBehind(t, servers, 'forged')
    const forged = { headers: { 'consistency-token': 'FFFFFFFF/FFFFFFFF' } }
    const counts = countCalls(t)
    const ended: string[] = []
    const honest = call('GET', `/users/${id}`, { headers }).then((answer) => {
      ended.push('honest')
      return answer
    })
    const read = async () => {
      const { statusCode } = await call('GET', `/users/${id}`, forged)
      ended.push('forged')
      return statusCode
    }
    t.strictSame(await Promise.all([read(), read(), read()]), [200, 200, 200])
    t.strictSame(ended, ['forged', 'forged', 'forged'], 'one that was given is waited for')
    t.equal(counts.get('users.find'), 3, 'the primary answers')
    await resume()
    t.equal((await honest).json().name, 'Ann')
  })

  await t.test('without a place of the limit', async (t) => {
    const { call, headers, id, resume } = await openBehind(t, servers, 'places', { limits: { inFlight: 1 } })
    const paths = ['/users', `/users/${id}`, '/users/export']
    const waiting = paths.map((path) => call('GET', path, { headers }))
    // A key has one export at a time, and it waits.
    for (const path of paths.slice(0, 2)) t.equal((await call('GET', path)).statusCode, 200, path)
    await resume()
    for (const answer of await Promise.all(waiting)) {
      t.equal(answer.statusCode, 200)
      t.match(answer.body, '"Ann"')
    }
  })
})
