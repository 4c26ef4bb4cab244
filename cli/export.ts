import { tenantOf, type TenantOptions } from './common.ts'
import { UsersError } from '../lib/core/errors.ts'
import { repositoryOf } from '../lib/storage/repository.ts'
import type { Storage, UserRecord } from '../lib/storage/storage.ts'
import { NO_FIELDS } from '../lib/fields/fields-schema.ts'
import { createExports, type Export } from '../lib/transfer/export.ts'
import { createPresenter } from '../lib/users/presenter.ts'
import { createUsersService } from '../lib/users/service.ts'
import { asStored } from './as-stored.ts'
import { fieldsIn } from './fields.ts'
import { requireReplaceable, writeFile } from './output-file.ts'
import type { Output } from './output.ts'

export interface ExportOptions {
  format?: string
  columns?: string
  sort?: string
  q?: string
  email?: string
  status?: string
  /** A file with the JSON Schema of the host's fields: the option `fields` of the server. */
  fields?: string
  output?: string
  /** True if the storage has users that belong to tenants. */
  ofTenants: boolean
}

/** The options that are parameters of an export over HTTP too. */
const QUERY = ['format', 'columns', 'sort', 'q', 'email', 'status'] as const

const namesUnknownColumn = (error: unknown): boolean => error instanceof UsersError &&
  error.errors?.some(({ parameter, code }) => parameter === 'columns' && code === 'choice') === true

/** Writes to standard output, until its reader has enough. */
async function writeAnswer (output: Output, texts: AsyncIterable<string>): Promise<void> {
  for await (const text of texts) {
    await output.text(text)
    if (!output.isWhole()) return
  }
}

/** Exports users to a file, or to standard output. @throws UsageError, Refusal, UsersError */
export async function exportUsers (
  storage: Storage, output: Output, options: ExportOptions & TenantOptions
): Promise<void> {
  const { fields: schema, output: path = '-', ofTenants } = options
  if (path !== '-') await requireReplaceable(path)
  const fields = schema === undefined ? null : await fieldsIn(schema)
  const warn = (_details: object, message: string): void => output.note(message)
  const users = createUsersService({
    repository: repositoryOf(storage),
    fields: null,
    pageSize: { default: 1, max: 1 },
    requireIfMatch: false,
    idempotencyTtl: 0,
    publish () {},
    makeEvent: () => null
  })
  const shown = fields === null ? asStored : createPresenter(fields, { warn }, true)
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
    opened = open(Object.fromEntries(given), { tenant: tenantOf(options) })
  } catch (error) {
    if (fields === null && namesUnknownColumn(error)) output.note('columns of your own need --fields <file>')
    throw error
  }
  if (path === '-') return writeAnswer(output, opened.texts())
  await writeFile(path, opened.texts())
  output.note(`exported ${count} ${count === 1 ? 'user' : 'users'}`)
}
