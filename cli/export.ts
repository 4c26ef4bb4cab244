import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { lstat, rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { UsersError } from '../lib/core/errors.ts'
import type { Storage, UserRecord } from '../lib/storage/storage.ts'
import { NO_FIELDS } from '../lib/fields/fields-schema.ts'
import { createExports, type Export } from '../lib/transfer/export.ts'
import { createPresenter } from '../lib/users/presenter.ts'
import { createUsersService } from '../lib/users/service.ts'
import { Refusal, UsageError } from './failure.ts'
import { fieldsIn } from './fields.ts'
import type { Output } from './output.ts'

export interface ExportOptions {
  format?: string
  columns?: string
  sort?: string
  q?: string
  email?: string
  /** A file with the JSON Schema of the host's fields: the option `fields` of the server. */
  fields?: string
  output?: string
  /** True if the storage has users that belong to tenants. */
  ofTenants: boolean
}

/** The options that are parameters of an export over HTTP too. */
const QUERY = ['format', 'columns', 'sort', 'q', 'email'] as const

// Users are personal data.
const FILE_MODE = 0o600

/** Users with their fields as they are stored: nobody has said what they should be. */
const asStored = {
  user: ({ fields, ...members }: UserRecord) => ({ ...members, ...fields }),
  userJson: ({ id, name, email, fields, createdAt, updatedAt, tenant }: UserRecord) =>
    JSON.stringify({ id, name, email, ...fields, createdAt, updatedAt, ...(tenant !== undefined && { tenant }) })
}

const namesUnknownColumn = (error: unknown): boolean => error instanceof UsersError &&
  error.errors?.some(({ parameter, code }) => parameter === 'columns' && code === 'choice') === true

/** Refuses to replace anything but a regular file: replacing a device such as /dev/null would break the machine. */
async function requireReplaceable (path: string): Promise<void> {
  const found = await lstat(path).catch(() => null)
  if (found?.isFile() === false) {
    throw new UsageError('--output must be a file, or a path where there is nothing: a link, a device, a pipe or a ' +
      'directory is not replaced; - is standard output')
  }
}

/** Writes a file that appears when it is whole. */
async function writeFile (path: string, texts: AsyncIterable<string>): Promise<void> {
  // A file or link that is there already would keep its mode, or lead elsewhere.
  const partial = `${path}.${randomBytes(6).toString('hex')}.partial`
  try {
    await pipeline(Readable.from(texts), createWriteStream(partial, { flags: 'wx', mode: FILE_MODE }))
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    const { code, syscall } = Object(error)
    const problem = `the file of --output can not be written (${code})`
    // No file can be made at that path. Any other problem is not one of the command line, such as a full disk.
    if (syscall === 'open') throw new UsageError(problem)
    if (syscall !== undefined) throw new Refusal(problem)
    throw error
  }
}

/** Writes to standard output, until its reader has enough. */
async function writeAnswer (output: Output, texts: AsyncIterable<string>): Promise<void> {
  for await (const text of texts) {
    await output.text(text)
    if (!output.isWhole()) return
  }
}

/** Exports users to a file, or to standard output. @throws UsageError, Refusal, UsersError */
export async function exportUsers (storage: Storage, output: Output, options: ExportOptions): Promise<void> {
  const { fields: schema, output: path = '-', ofTenants } = options
  if (path !== '-') await requireReplaceable(path)
  const fields = schema === undefined ? null : await fieldsIn(schema)
  const warn = (_details: object, message: string): void => output.note(message)
  const users = createUsersService({
    storage,
    fields: null,
    pageSize: { default: 1, max: 1 },
    requireIfMatch: false,
    idempotencyTtl: 0,
    publish () {},
    makeEvent: () => null
  })
  const shown = fields === null ? asStored : createPresenter(fields, { warn })
  let count = 0
  const counting = <Shown>(show: (record: UserRecord) => Shown) => (record: UserRecord): Shown => {
    count++
    return show(record)
  }
  const open = createExports({
    users,
    presenter: { user: counting(shown.user), userJson: counting(shown.userJson) },
    fields: fields?.schema ?? NO_FIELDS,
    ofTenants
  })
  const given = QUERY.flatMap((name) => options[name] === undefined ? [] : [[name, options[name]] as const])
  let opened: Export
  try {
    opened = open(Object.fromEntries(given))
  } catch (error) {
    if (fields === null && namesUnknownColumn(error)) output.note('columns of your own need --fields <file>')
    throw error
  }
  if (path === '-') return writeAnswer(output, opened.texts())
  await writeFile(path, opened.texts())
  output.note(`exported ${count} ${count === 1 ? 'user' : 'users'}`)
}
