import { isoOrNull } from '../tables/rows.ts'
import {
  ID, maybe, moment, plain, readMoment, type SqlCollection, tenantIn, text, VERSION
} from './collections.ts'

export const userGroups: SqlCollection<'userGroups'> = {
  table: (names) => names.userGroups,
  columns: [
    ID, VERSION, text('tenant'), text('name'), text('name_key'), maybe('external_id'),
    { column: 'members', type: 'bigint' }, moment('created_at'), moment('updated_at')
  ],
  values ({ record: { id, version, tenant, name, nameKey, externalId, members, createdAt, updatedAt } }) {
    return [
      id, String(version), tenant ?? '', name, nameKey, externalId ?? '', String(members), createdAt, updatedAt
    ]
  },
  read: [
    plain('id'), plain('version'), plain('tenant'), plain('name'), plain('nameKey', 'name_key'),
    plain('externalId', 'external_id'), plain('members'), readMoment('createdAt', 'created_at'),
    readMoment('updatedAt', 'updated_at')
  ],
  toRow: (row) => ({
    record: {
      id: String(row['id']),
      name: String(row['name']),
      nameKey: String(row['nameKey']),
      externalId: row['externalId'] === null ? null : String(row['externalId']),
      members: Number(row['members']),
      version: Number(row['version']),
      createdAt: String(isoOrNull(row['createdAt'])),
      updatedAt: String(isoOrNull(row['updatedAt'])),
      ...tenantIn(row)
    },
    keys: null,
    of: null
  }),
  members: { nameKey: 'name_key', externalId: 'external_id' },
  of: null
}

export const memberships: SqlCollection<'memberships'> = {
  table: (names) => names.memberships,
  columns: [ID, VERSION, text('group_id'), text('member')],
  values: ({ record: { id, version, member }, of }) => [id, String(version), of ?? '', member],
  read: [plain('id'), plain('version'), plain('group', 'group_id'), plain('member')],
  toRow: ({ id, version, group, member }) => ({
    record: { id: String(id), version: Number(version), member: String(member) }, keys: null, of: String(group)
  }),
  members: { member: 'member' },
  of: 'group_id'
}
