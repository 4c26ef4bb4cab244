// Readers that take 20 KB a second get all of what is streamed to them, however long that takes.
import { connect, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { type Test, test } from 'tap'
import { Type } from 'typebox'
import { advancing } from '../helpers/advancing.ts'
import { testApp, type TestAppOptions } from '../helpers/app.ts'
import { crowd } from '../helpers/crowd.ts'
import { withoutType } from '../helpers/fields.ts'
import { from } from '../helpers/level.ts'
import { listen } from '../helpers/raw.ts'

const BYTES_A_SECOND = 20_000

/** Takes what has come for a second; false: there is no more to come. */
async function takeSome (socket: Socket, isOver: () => boolean, take: (part: string) => void): Promise<boolean> {
  let taken = 0
  for (let turns = 0; taken < BYTES_A_SECOND && turns < 100; turns++) {
    const part: string | null = socket.read(Math.min(BYTES_A_SECOND - taken, socket.readableLength))
    if (part === null) await setImmediate()
    else {
      taken += part.length
      take(part)
    }
  }
  return taken > 0 || !isOver()
}

/** The answer to a request, read while a time passes that passes only here. */
async function readSlowly (
  t: Test,
  options: TestAppOptions,
  request: (app: Awaited<ReturnType<typeof testApp>>) => Promise<string[]>,
  isWhole: (answer: string) => boolean = (answer) => answer.endsWith('\r\n0\r\n\r\n')
): Promise<string> {
  const host = await testApp(t, options)
  const [start = '', ...more] = await request(host)
  const port = await listen(host.app)
  const { advance } = advancing(t)
  const socket = connect({ port, host: '127.0.0.1' })
  t.teardown(() => socket.destroy())
  let [answer, isOver] = ['', false]
  socket.setEncoding('latin1').pause().on('error', () => {}).once('close', () => { isOver = true })
  socket.write(`${start} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${host.key}\r\nconnection: close\r\n` +
    (more.length === 0 ? '\r\n' : more.join('')))
  for (let second = 0; second < 3000 && !isWhole(answer); second++) {
    if (!await takeSome(socket, () => isOver, (part) => { answer += part })) break
    await advance(1000)
  }
  t.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
  t.equal(isWhole(answer), true, 'it is whole')
  return answer
}

const options = { eventLog: true, fields: { schema: Type.Object({ note: Type.String() }) } } as const

/** Makes a user with a long history. */
async function withHistory ({ app }: Awaited<ReturnType<typeof testApp>>): Promise<string> {
  const { id } = await app.users.create(withoutType({ name: 'Ann', email: 'ann@example.org', note: '' }))
  for (let n = 0; n < 300; n++) await app.users.update(id, withoutType({ note: `${n}`.padEnd(15_000, 'x') }))
  return id
}

test('an export', async (t) => {
  await readSlowly(t, { storage: await crowd(4000) }, async () => ['GET /v1/users/export'])
})

// It is written as an export is.
test('all that is stored of a person', { skip: from('nightly') }, async (t) => {
  await readSlowly(t, options, async (host) => [`GET /v1/users/${await withHistory(host)}/subject`])
})

test('a stream of events', async (t) => {
  await readSlowly(t, options, async (host) => {
    await withHistory(host)
    return ['GET /v1/events', 'accept: text/event-stream\r\n\r\n']
  }, (answer) => answer.includes(`"note":"${299}xxx`) && answer.endsWith('\n\n\r\n'))
})

test('the answer of an import', async (t) => {
  const body = '{"name":"A"}\n'.repeat(20_000)
  const answer = await readSlowly(t, { limits: { refusedLines: 20_000 } }, async () => [
    'POST /v1/users/import', `content-type: application/x-ndjson\r\ncontent-length: ${body.length}\r\n\r\n`, body
  ])
  t.match(answer, '"refused":20000')
})
