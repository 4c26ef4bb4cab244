// fastify-users events: the built program, beside a server on the same database.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import Fastify from 'fastify'
import { test, type Test } from 'tap'
import { newId } from '../../lib/core/ids.ts'
import users from '../../lib/index.ts'
import { databases, PROGRAM, run } from '../helpers/cli.ts'
import { plainNode } from '../helpers/plain-node.ts'
import { until } from '../helpers/until.ts'
import '../helpers/watch-all.ts'

/** A server, and the program that follows its log and has printed the first event. */
async function followed (t: Test) {
  const [database] = databases
  if (database === undefined) throw new Error('there is no database')
  const { url, args, open, execute } = await database.create(t)
  await run(['migrate', ...args], { DATABASE_URL: url })
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(users, { storage: open(), eventLog: true })
  const [node, given] = plainNode(PROGRAM, 'events', 'tail', '--follow', ...args)
  const child = spawn(node, given, { env: { PATH: String(process.env['PATH']), DATABASE_URL: url } })
  t.teardown(() => child.kill('SIGKILL'))
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text) => { out += text })
  await app.users.create({ name: 'Ann', email: 'ann@example.org' })
  await until('the event was printed', () => out.includes('user.created'), 20_000)
  return { app, execute, child, lines: () => out.split('\n').length - 1 }
}

for (const { name, skip, create } of databases) {
  test(`prints the events of a server on ${name}, those of keys on the command line too`, { skip }, async (t) => {
    const { url, args, open } = await create(t)
    const env = { DATABASE_URL: url }
    const cli = (...given: string[]) => run([...given, ...args], env)
    await cli('migrate')
    t.strictSame(await cli('events', 'tail'), { code: 0, out: '', err: '' })
    const app = Fastify()
    t.teardown(() => app.close())
    const storage = open()
    await app.register(users, { storage, eventLog: true })
    const ann = await app.users.create({ name: 'Ann', email: 'ann@example.org' })
    await app.users.update(ann.id, { name: 'Anna' })
    const made = JSON.parse((await cli('keys', 'create', '--name', 'ci', '--json')).out)

    const plain = (await cli('events', 'tail')).out.trimEnd().split('\n')
    t.match(plain, [
      new RegExp(`^\\d{4}-.*Z {2}user\\.created {5}${ann.id} {2}- {2}evt_\\w{26}$`),
      new RegExp(`user\\.updated {5}${ann.id} {2}\\[name\\] {2}- `),
      new RegExp(`api_key\\.created {2}${made.id}`)
    ])
    t.notMatch(plain.join(), /Ann|example/)
    const whole = (await cli('events', 'tail', '--json', '--type', 'user.*')).out.trimEnd().split('\n')
    const events = whole.map((line) => JSON.parse(line))
    t.strictSame(events, (await app.users.events.list({ type: 'user.*' })).data)
    const rest = await cli('events', 'tail', '--after', events[0].id)
    t.strictSame(rest.out.trimEnd().split('\n'), plain.slice(1))
    t.match(await cli('events', 'tail', '--after', newId('evt')), { code: 2, err: /after is not the id of an event/ })
    const newest = async (...given: string[]) => (await cli('events', 'list', ...given)).out.trimEnd().split('\n')
    const listed = await newest()
    t.match(listed, [
      new RegExp(`api_key\\.created {2}${made.id} \\(ci\\) {2}by - {2}evt_\\w{26}$`),
      new RegExp(`user\\.updated {5}${ann.id} \\(Anna\\) {2}\\[name\\] {2}by - {2}evt_\\w{26}$`),
      new RegExp(`^\\d{4}-.*Z {2}user\\.created {5}${ann.id} \\(Ann\\) {2}by - {2}evt_\\w{26}$`)
    ])
    t.equal(listed.length, 3)
    t.strictSame(await newest('--limit', '1', '--subject', ann.id), listed.slice(1, 2))
    t.strictSame(await newest('--type', 'user.*', '--since', events[0].timestamp), listed.slice(1))
    t.strictSame(await newest('--until', events[0].timestamp), [''])
    t.match(await cli('events', 'list', '--limit', 'x'), { code: 2, err: /limit must be a whole number/ })
    t.strictSame((await cli('events', 'tail', '--subject', ann.id)).out.trimEnd().split('\n'), plain.slice(0, 2))
    t.match(await cli('events', 'tail', '--type', 'x'), { code: 2, err: /type must be user\.created or/ })
    await storage.log.prune(new Date(Date.now() + 1000).toISOString(), 1)
    const still = await cli('events', 'tail', '--after', events[0].id)
    t.strictSame(still.out.trimEnd().split('\n'), plain.slice(1), 'none behind it is gone')
    await storage.log.prune(new Date(Date.now() + 1000).toISOString(), 1)
    t.match(await cli('events', 'tail', '--after', events[0].id), { code: 1, err: /leave --after out/ })
  })
}

test('follows the log until it is interrupted', async (t) => {
  const { app, child, lines } = await followed(t)
  const exit = once(child, 'exit')
  await app.users.create({ name: 'Bob', email: 'bob@example.org' })
  await until('the next event was printed', () => lines() === 2, 20_000)
  child.kill('SIGINT')
  t.strictSame(await exit, [0, null])
})

test('ends with an error if the log can no longer be read while it is followed', async (t) => {
  const { app, execute, child } = await followed(t)
  await app.close()
  await execute('ALTER TABLE @fastify_users_events RENAME TO away')
  await until('the process ended', () => child.exitCode !== null, 20_000)
  t.equal(child.exitCode, 1)
})
