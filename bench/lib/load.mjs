import { setTimeout as delay } from 'node:timers/promises'
import autocannon from 'autocannon'
import { cpuOf } from './cpu.mjs'
import { loadByWrk } from './wrk.mjs'

const SETTLE_MS = 250

function cpu (pid, databasePid) {
  return { node: cpuOf(pid), database: databasePid === undefined ? NaN : cpuOf(databasePid, { children: true }) }
}

/** Waits until the database is idle. The queries of a slow server continue after its load has ended. */
async function settle (databasePid) {
  while (true) {
    const before = cpu(process.pid, databasePid).database
    await delay(SETTLE_MS)
    if (!(cpu(process.pid, databasePid).database - before > SETTLE_MS * 100)) return
  }
}

/** The same as `loadByWrk`, by autocannon, which npm installs; or, instead of `seconds`, an `amount` of requests. */
async function loadByAutocannon ({ address, key, dialect }, next, { seconds, amount, connections }) {
  const result = await autocannon({
    url: address,
    connections,
    ...amount === undefined ? { duration: seconds } : { amount },
    headers: { authorization: `Bearer ${key}` },
    verifyBody: dialect.verify,
    requests: [{
      setupRequest (request) {
        const { headers, ...rest } = next()
        return { ...request, ...rest, headers: { ...request.headers, ...headers } }
      }
    }]
  })
  return {
    answered: result['2xx'],
    seconds: result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    errors: result.errors + result.timeouts + result.non2xx + result.mismatches
  }
}

/** The programs that send the requests. */
export const LOADERS = { autocannon: loadByAutocannon, wrk: loadByWrk }

/**
 * Loads one server with one case. Returns requests a second, latencies in milliseconds, microseconds of CPU time a
 * request, and the number of responses that were no success. `settlePid`: the process of a database that must be idle
 * before, which the server need not use.
 */
export async function load (server, next, { loader = 'autocannon', databasePid, settlePid = databasePid, ...asked }) {
  const { pid } = server
  await settle(settlePid)
  const before = cpu(pid, databasePid)
  const { answered, seconds, p50, p99, errors } = await LOADERS[loader](server, next, asked)
  const after = cpu(pid, databasePid)
  return {
    perSecond: answered / seconds,
    p50,
    p99,
    node: (after.node - before.node) / answered,
    database: (after.database - before.database) / answered,
    errors
  }
}

/** Sends some requests of a case, one after the other, and counts those that fail. Nothing is timed. */
export async function smokeTest ({ address, key, dialect }, next, requests) {
  let errors = 0
  for (let i = 0; i < requests; i++) {
    const { path, headers, ...rest } = next()
    const response = await fetch(address + path, { ...rest, headers: { authorization: `Bearer ${key}`, ...headers } })
    const text = await response.text()
    if (!response.ok || dialect.verify?.(text) === false) errors++
  }
  return { perSecond: NaN, p50: NaN, p99: NaN, node: NaN, database: NaN, errors }
}
