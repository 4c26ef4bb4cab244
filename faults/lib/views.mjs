// What is there in the end, as services and the command line see it.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openClient, versionOf } from './http.mjs'
import { KEY, ROOT } from './service.mjs'

const READERS = 8

/** All users that a service lists, each with its version, and their number as it says. */
export async function readAll (origin, key = KEY) {
  const { send, close } = openClient(origin, key)
  const users = []
  try {
    for (let page = 1; ; page++) {
      const { status, body } = await send('GET', `/v1/users?limit=100&page=${page}`)
      if (status !== 200) throw new Error(`reading the users: ${status}`)
      users.push(...body.data)
      if (body.data.length < 100) break
    }
    const { body } = await send('GET', '/v1/users?limit=1')
    const left = [...users]
    await Promise.all(Array.from({ length: READERS }, async () => {
      const reader = openClient(origin, key)
      for (let user = left.pop(); user !== undefined; user = left.pop()) {
        const { status, headers } = await reader.send('GET', `/v1/users/${user.id}`)
        if (status !== 200) throw new Error(`reading a user that is listed: ${status}`)
        user.version = versionOf(headers)
      }
      reader.close()
    }))
    return { users, total: body.meta.total }
  } finally {
    close()
  }
}

/** What `fastify-users check` says of the tables: the users as SQL counts them; throws if it finds a problem. */
export async function checkTables (url) {
  const env = { PATH: process.env.PATH, DATABASE_URL: url }
  const args = [join(ROOT, 'dist', 'cli', 'main.js'), 'check', '--json']
  const { stdout } = await promisify(execFile)(process.execPath, args, { env })
  return JSON.parse(stdout).counts.users
}
