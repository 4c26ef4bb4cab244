// Where SQLite makes its temporary files in this process. It must be imported before anything that loads a driver: they
// read it when the first database is opened.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const sqliteTemporary = mkdtempSync(join(tmpdir(), 'fastify-users-temporary-'))
process.env['SQLITE_TMPDIR'] = sqliteTemporary
process.on('exit', () => rmSync(sqliteTemporary, { recursive: true, force: true }))
