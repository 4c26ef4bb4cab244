// Makes the host of a row, asks it for the whole contract, and says what was seen.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import Fastify from 'fastify'
import { memory } from '../../../adapters/memory/index.ts'
import { admin } from '../../../lib/admin-plugin.ts'
import users from '../../../lib/index.ts'
import { ALL_SCOPES, leaksIn } from '../app.ts'
import { listen } from '../raw.ts'
import { http2, TRANSPORTS } from '../transports.ts'
import { until } from '../until.ts'
import { inTime, openClient } from './client.ts'
import type { Row } from './covering.ts'
import { levelsOf } from './factors.ts'
import { type Logged, serverOptions } from './level.ts'
import { addOwnRoutes, askOwnRoutes } from './own-routes.ts'
import { createSite, type Site, type Transcript } from './site.ts'
import { streamsContract } from './streams-contract.ts'
import { transferContract } from './transfer-contract.ts'
import { usersContract } from './users-contract.ts'

const [http1] = TRANSPORTS

export interface Seen {
  transcript: Transcript
  /** What its logger was given. */
  logged: Logged[]
}

/** Asks a host something, and closes it. */
async function ask (
  row: Row,
  withUsers: boolean,
  questions: (site: Site) => Promise<() => Promise<void>>
): Promise<Seen> {
  const levels = levelsOf(row)
  const logged: Logged[] = []
  const app = Fastify(serverOptions(levels, (line) => logged.push(line)))
  const base = levels.map((level) => level.base ?? '').join('')
  const plug = async (): Promise<void> => { for (const level of levels) await level.plug?.(app) }
  for (const { prepare } of levels) await prepare?.(app)
  addOwnRoutes(app, `${base}/before`, row)
  if (row['order'] === 'before ours') await plug()
  if (withUsers) {
    await app.register(users, { prefix: `${base}/v1`, storage: memory(), eventLog: true, apiKeys: { routes: true } })
    await app.register(admin, { prefix: `${base}/admin` })
  }
  if (row['order'] !== 'before ours') await plug()
  addOwnRoutes(app, `${base}/after`, row)
  const { key = '' } = withUsers ? await app.users.apiKeys.create({ name: 'test', scopes: ALL_SCOPES }) : {}
  const port = await listen(app)
  const isHttp2 = row['http2'] === 'on'
  const transport = isHttp2 || http1 === undefined ? http2 : http1
  const client = openClient(port, isHttp2)
  const buffersBodies = levels.some((level) => level.buffersBodies === true)
  const { site, transcript, cancelAll } = createSite({ app, client, transport, port, key, base, buffersBodies })
  const close = async (): Promise<void> => {
    // A host without `forceCloseConnections` waits for sessions of HTTP/2.
    if (isHttp2) client.close()
    await inTime('app.close()', app.close())
    client.close()
  }
  let afterClose: () => Promise<void>
  try {
    afterClose = await questions(site)
  } catch (error) {
    cancelAll()
    await close().catch(() => {})
    throw error
  }
  await close()
  await afterClose()
  return { transcript, logged }
}

/** Asks for the contract. Throws if something goes on after it. */
export async function contractOf (row: Row): Promise<Seen> {
  let running = 0
  const begin = (): void => { running++ }
  const end = (): void => { running-- }
  subscribe('tracing:fastify-users:operation:start', begin)
  subscribe('tracing:fastify-users:operation:asyncEnd', end)
  try {
    return await ask(row, true, async (site) => {
      await usersContract(site)
      await transferContract(site)
      const stream = await streamsContract(site)
      await until('only the open stream goes on', () => running <= 1)
      return async () => {
        await until('the stream has ended', () => stream.ending() !== null)
        await until('nothing goes on', () => running === 0)
      }
    })
  } finally {
    unsubscribe('tracing:fastify-users:operation:start', begin)
    unsubscribe('tracing:fastify-users:operation:asyncEnd', end)
  }
}

/** The answers of a host's own routes. */
export const ownAnswers = async (row: Row, withUsers: boolean): Promise<Transcript> =>
  (await ask(row, withUsers, async (site) => {
    await askOwnRoutes(site)
    return async () => {}
  })).transcript

// Of imports and keys that the contract has refused.
const EXPECTED = /an import was aborted|an API key was refused|an API key lacks the scope/

/** What no logger may be given: secrets, and lines that say that something failed. */
export function badLines (row: Row, logged: readonly Logged[]): string[] {
  const expected = [EXPECTED, ...levelsOf(row).flatMap(({ logs = [] }) => logs)]
  const failures = logged.filter(({ level, text }) =>
    ['warn', 'error', 'fatal'].includes(level) && !expected.some((pattern) => pattern.test(text)))
  const leaks = leaksIn(logged.map(({ text }) => text).join('\n'), [])
  return [...failures.map(({ text }) => text), ...leaks.map((leak) => `the log has ${leak}`)]
}

/** A step without the headers that only the host adds, in an order that is always the same. */
function comparable (seen: unknown, due: unknown, added: ReadonlySet<string>): unknown {
  if (typeof seen !== 'object' || seen === null || !('headers' in seen)) return seen
  const { headers, ...rest } = seen
  const expected = Object(Object(due).headers)
  const kept = Object.entries(Object(headers))
    .filter(([field]) => !added.has(field) || (field in expected && field !== 'vary'))
  return [...Object.entries(rest), ...kept].sort(([one], [other]) => one < other ? -1 : 1)
}

/** In what the answers to a row's host differ from those of a plain one. */
export function differences (row: Row, seen: Transcript, plain: Transcript): unknown[] {
  const levels = levelsOf(row)
  const added = new Set(levels.flatMap(({ adds = [] }) => adds))
  const answered = new Set(levels.flatMap(({ answers = [] }) => answers))
  const names = [...new Set([...plain.keys(), ...seen.keys()])].filter((name) => !answered.has(name))
  return names.flatMap((name) => {
    const [got, due] = [seen, plain].map((transcript) => comparable(transcript.get(name), plain.get(name), added))
    return JSON.stringify(got) === JSON.stringify(due) ? [] : [{ name, got, due }]
  })
}
