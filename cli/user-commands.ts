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
  const users = program.command('users').description('find users; suspend, delete, restore and revert single ones')
  const userCommand = (name: string, description: string): Command =>
    withTenantOption(users.command(name).description(description), 'only a user of this tenant')

  userCommand('list', 'list users, or those who have words that begin so')
    .alias('find')
    .argument('[words...]', 'words of name, address and the fields that are searched')
    .option('--status <status>', 'active or suspended')
    .option('--sort <member>', 'createdAt, updatedAt, name or email; with - before it from the end')
    .option('--limit <number>', 'how many, at most 100 (default: 20)')
    .action((words: string[], options: Options & ListOptions) =>
      withUsers(options, (users, output) => listUsers(users, output, words, options)))

  const statuses: Array<[name: string, status: UserStatus, description: string]> = [
    ['suspend', 'suspended', 'suspend a user: the host lets it in no more'],
    ['activate', 'active', 'let a suspended user in again']
  ]
  for (const [name, status, description] of statuses) {
    userCommand(name, description).argument('<id>', 'usr_…')
      .option('--reason <text>', 'why, for people; without it none is kept')
      .action((id: string, options: Options & { reason?: string }) =>
        withUsers(options, (users, output) => setStatus(users, output, id, status, options.reason)))
  }

  userCommand('delete', 'delete a user, so that it can be restored until it is purged')
    .argument('<id>', 'usr_…')
    .action((id: string, options: Options) => withUsers(options, (users, output) => deleteUser(users, output, id)))

  userCommand('deleted', 'list the deleted users that can be restored, the latest first')
    .action((options: Options) => withUsers(options, listDeleted))

  userCommand('restore', 'restore a deleted user').argument('<id>', 'usr_…')
    .action((id: string, options: Options) => withUsers(options, (users, output) => restoreUser(users, output, id)))

  userCommand('purge', 'delete a user for good, also one that is deleted already')
    .argument('[id]', 'usr_…')
    .option('--older-than <time>', 'in place of an id: all that were deleted so long ago: seconds, or 24h, 30d')
    .option('--erase', 'take every value of the user out of its events too', false)
    .option('--yes', 'confirm that it can not be restored any more', false)
    .action((id: string | undefined, options: Common & PurgeOptions) =>
      withChecked(options, (storage, output) => purge(storage, output, id, options)))

  userCommand('revert', 'set what an event changed back, where it still is what the event made it')
    .argument('<id>', 'usr_…')
    .argument('<event>', 'evt_…: a change of the user')
    .option('--fields <file>', 'the JSON Schema of the own fields, which what is set back has to match')
    .action((id: string, event: string, options: Options) =>
      withChecked(options, (storage, output) => revertUser(storage, output, id, event, options)))

  userCommand('subject', 'print all that is stored of a person, as one JSON document').argument('<id>', 'usr_…')
    .option('-o, --output <file>', 'a file, readable by its owner alone; - is standard output (default: "-")')
    .action((id: string, options: Options & { output?: string }) =>
      withChecked(options, (storage, output) => writeSubject(storage, output, id, options)))
}
