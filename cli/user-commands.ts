import type { Command } from 'commander'
import type { KnexStorage } from '../adapters/knex/index.ts'
import type { UserStatus } from '../lib/storage/storage.ts'
import type { UsersService } from '../lib/users/service.ts'
import { type Bound, type Common, withStorage, withTenantOption } from './common.ts'
import type { Output } from './output.ts'
import {
  deleteUser, listDeleted, listUsers, type ListOptions, purge, type PurgeOptions, restoreUser, revertUser, setStatus,
  type UserOptions, usersOf, writeSubject
} from './users.ts'

type Options = Common & UserOptions

function withChecked (options: Options, work: (storage: KnexStorage, output: Output) => Promise<void>): Promise<void> {
  return withStorage(options, async (storage, output) => {
    await storage.open()
    await work(storage, output)
  })
}

function withUsers (
  options: Options, work: (users: Bound<UsersService>, output: Output) => Promise<void>
): Promise<void> {
  return withChecked(options, async (storage, output) => work(await usersOf(storage, options), output))
}

/** Adds the commands of single users. */
export function addUserCommands (program: Command): void {
  const users = program.command('users').description('list users; suspend, delete, restore or revert a single user')
  const userCommand = (name: string, description: string): Command =>
    withTenantOption(users.command(name).description(description), 'only a user of this tenant')

  userCommand('list', 'list users, or only those with words that begin with the given ones')
    .alias('find')
    .argument('[words...]', 'beginnings of words in names, addresses and searchable fields')
    .option('--status <status>', 'active or suspended')
    .option('--sort <member>', 'createdAt, updatedAt, name or email; a leading - reverses the order')
    .option('--limit <number>', 'how many, at most 100 (default: 20)')
    .action((words: string[], options: Options & ListOptions) =>
      withUsers(options, (users, output) => listUsers(users, output, words, options)))

  const statuses: Array<[name: string, status: UserStatus, description: string]> = [
    ['suspend', 'suspended', 'suspend a user, so that a sign-in that asks for the status refuses them'],
    ['activate', 'active', 'activate a suspended user again']
  ]
  for (const [name, status, description] of statuses) {
    userCommand(name, description).argument('<id>', 'usr_…')
      .option('--reason <text>', 'the reason, as a note for people (default: none)')
      .action((id: string, options: Options & { reason?: string }) =>
        withUsers(options, (users, output) => setStatus(users, output, id, status, options.reason)))
  }

  userCommand('delete', 'delete a user, who can be restored until they are purged')
    .argument('<id>', 'usr_…')
    .action((id: string, options: Options) => withUsers(options, (users, output) => deleteUser(users, output, id)))

  userCommand('deleted', 'list the deleted users that can be restored, the latest first')
    .action((options: Options) => withUsers(options, listDeleted))

  userCommand('restore', 'restore a deleted user').argument('<id>', 'usr_…')
    .action((id: string, options: Options) => withUsers(options, (users, output) => restoreUser(users, output, id)))

  userCommand('purge', 'delete a user for good, even one who is already deleted')
    .argument('[id]', 'usr_…')
    .option('--older-than <time>', 'instead of an id: all users deleted at least this long ago: seconds, or 24h, 30d')
    .option('--erase', 'also erase every value of the user from their events', false)
    .option('--yes', 'confirm that the deletion cannot be undone', false)
    .action((id: string | undefined, options: Common & PurgeOptions) =>
      withChecked(options, (storage, output) => purge(storage, output, id, options)))

  userCommand('revert', 'undo the change of an event, if those values have not changed since')
    .argument('<id>', 'usr_…')
    .argument('<event>', 'evt_…: a change of the user')
    .option('--fields <file>', 'the JSON Schema of your own fields, which the restored values must match')
    .action((id: string, event: string, options: Options) =>
      withChecked(options, (storage, output) => revertUser(storage, output, id, event, options)))

  userCommand('subject', 'print all data stored about a user, as one JSON document').argument('<id>', 'usr_…')
    .option('-o, --output <file>', 'a file, readable only by its owner; - is standard output (default: "-")')
    .action((id: string, options: Options & { output?: string }) =>
      withChecked(options, (storage, output) => writeSubject(storage, output, id, options)))
}
