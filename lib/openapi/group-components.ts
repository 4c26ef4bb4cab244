import { EXTERNAL_ID_MAX, MEMBERS_MAX } from '../core/limits.ts'
import type { PageSize } from '../core/paging.ts'
import { answer, body, groupId, list, moment, name, type Schema, userId, written } from './component-parts.ts'

const GROUP = {
  id: 'grp_01h455vb4pex5vsknk084sn02q',
  name: 'Editors',
  members: 42,
  version: 3,
  createdAt: '2026-01-31T09:30:00.000Z',
  updatedAt: '2026-01-31T09:30:00.000Z'
}

const groupName = { ...name, description: `${String(name['description'])} Unique, whatever the case and accents.` }
const externalId: Schema = {
  type: 'string', minLength: 1, maxLength: EXTERNAL_ID_MAX, description: 'What another system calls the group.'
}
const nullable = { ...externalId, type: ['string', 'null'] }
const times = {
  createdAt: moment('When the group was created.'),
  updatedAt: moment('When the group or its members last changed.')
}
const members: Readonly<Record<string, Schema>> = {
  id: groupId,
  name: groupName,
  externalId,
  members: { type: 'integer', minimum: 0, description: 'How many members the group has.' },
  version: {
    type: 'integer',
    minimum: 1,
    description: 'Grows by one with every change of the group or of its members. The ETag without the quotes.'
  },
  ...times
}
const users = (description: string): Schema =>
  ({ type: 'array', items: userId, maxItems: MEMBERS_MAX, description })
const text = { type: ['string', 'null'] }

/** Components of groups. */
export const groupComponents = (pageSize: PageSize): Readonly<Record<string, Schema>> => ({
  Group: answer(members, { optional: ['externalId'], example: GROUP }),
  GroupList: list('Group', pageSize),
  MinimalGroup: answer({ id: groupId, ...times }),
  WrittenGroup: written('Group', 'MinimalGroup', 'groups:read'),
  /** A group of a person. */
  SubjectGroup: answer({ id: groupId, name: { type: 'string' } }),
  GroupInput: body({ name: groupName, externalId: nullable }, {
    optional: ['externalId'], example: { name: GROUP.name }
  }),
  GroupPatch: body({ name: groupName, externalId: nullable }, {
    optional: ['name', 'externalId'], example: { name: 'Authors' }
  }),
  GroupMembers: body({ add: users('Who joins.'), remove: users('Who leaves.') }, {
    optional: ['add', 'remove'], example: { add: ['usr_01h455vb4pex5vsknk084sn02q'] }
  }),
  /** A group in an event; after the removal of its tenant its values are null. */
  EventGroup: answer({
    ...members,
    name: text,
    externalId: text,
    added: users('Of `group.members_changed`: who has joined.'),
    removed: users('Of `group.members_changed`: who has left.')
  }, { optional: ['externalId', 'added', 'removed'] })
})
