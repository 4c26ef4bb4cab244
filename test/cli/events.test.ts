// fastify-users events, beside a server on the same database.
import { once } from 'node:events'
import { test, type Test } from 'tap'
import { newId } from '../../lib/core/ids.ts'
import { databases, migrated, serverOn, start } from '../helpers/cli.ts'
import { until } from '../helpers/until.ts'

/** A server, and the program that follows its log and has printed the first event. */
async function followed (t: Test) {
  const database = await migrated(t)
  const { url, execute } = database
  const app = await serverOn(t, database, { eventLog: true })
  const child = start(['events', 'tail', '--follow'], { DATABASE_URL: url })
  t.teardown(() => child.kill('SIGKILL'))
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text) => { out += text })
  await app.users.create({ name: 'Ann', email: 'ann@example.org' })
  await until('the event was printed', () => out.includes('user.created'))
  return { app, execute, child, lines: () => out.split('\n').length - 1 }
}

for (const { name, skip, create } of databases) {
  test(`prints the events of a server on ${name}, those of keys on the command line too`, { skip }, async (t) => {
    const { cli, open } = await create(t)
    await cli('migrate')
    t.strictSame(await cli('events', 'tail'), { code: 0, out: '', err: '' })
    const storage = open()
    const app = await serverOn(t, { open: () => storage }, { eventLog: true })
    const ann = await app.users.create({ name: 'Ann', email: 'ann@example.org' })
    await app.users.update(ann.id, { name: 'Anna' })
    const made = JSON.parse((await cli('keys', 'create', '--name', 'ci', '--json')).out)

    const printed = async (...given: string[]) => (await cli('events', ...given)).out.trimEnd().split('\n')
    const plain = await printed('tail')
    t.match(plain, [
      new RegExp(`^\\d{4}-.*Z {2}user\\.created {5}${ann.id} {2}- {2}evt_\\w{26}$`),
      new RegExp(`user\\.updated {5}${ann.id} {2}\\[name\\] {2}- `),
      new RegExp(`api_key\\.created {2}${made.id}`)
    ])
    t.notMatch(plain.join(), /Ann|example/)
    const events = (await printed('tail', '--json', '--type', 'user.*')).map((line) => JSON.parse(line))
    t.strictSame(events, (await app.users.events.list({ type: 'user.*' })).data)
    t.strictSame(await printed('tail', '--after', events[0].id), plain.slice(1))
    const listed = await printed('list')
    t.match(listed, [
      new RegExp(`api_key\\.created {2}${made.id} \\(ci\\) {2}by - {2}evt_\\w{26}$`),
      new RegExp(`user\\.updated {5}${ann.id} \\(Anna\\) {2}\\[name\\] {2}by - {2}evt_\\w{26}$`),
      new RegExp(`^\\d{4}-.*Z {2}user\\.created {5}${ann.id} \\(Ann\\) {2}by - {2}evt_\\w{26}$`)
    ])
    t.equal(listed.length, 3)
    t.strictSame(await printed('list', '--limit', '1', '--subject', ann.id), listed.slice(1, 2))
    t.strictSame(await printed('list', '--type', 'user.*', '--since', events[0].timestamp), listed.slice(1))
    t.strictSame(await printed('list', '--until', events[0].timestamp), [''])
    t.strictSame(await printed('tail', '--subject', ann.id), plain.slice(0, 2))
    for (const [given, err] of [
      [['tail', '--after', newId('evt')], /^--after is not the id of an event\n$/],
      [['list', '--limit', 'x'], /^--limit must be a whole number/],
      [['tail', '--after', 'now'], /^--after now needs --follow\n$/],
      [['tail', '--type', 'x'], /^--type must be user\.created or/]
    ] as const) t.match(await cli('events', ...given), { code: 2, err }, given.join(' '))

    const pruneOne = () => storage.log.prune(new Date(Date.now() + 1000).toISOString(), 1)
    await pruneOne()
    t.strictSame(await printed('tail', '--after', events[0].id), plain.slice(1), 'none behind it is gone')
    await pruneOne()
    t.match(await cli('events', 'tail', '--after', events[0].id), { code: 1, err: /leave out --after/ })
  })
}

test('follows the log until it is interrupted', async (t) => {
  const { app, child, lines } = await followed(t)
  const exit = once(child, 'exit')
  await app.users.create({ name: 'Bob', email: 'bob@example.org' })
  await until('the next event was printed', () => lines() === 2)
  child.kill('SIGINT')
  t.strictSame(await exit, [0, null])
})

test('ends with an error if the log can no longer be read while it is followed', async (t) => {
  const { app, execute, child } = await followed(t)
  const exit = once(child, 'exit')
  await app.close()
  await execute('ALTER TABLE @fastify_users_events RENAME TO away')
  t.strictSame(await exit, [1, null])
})
