import type { Dialect } from '../dialects/dialect.ts'
import type { Names } from '../tables/names.ts'

/** Groups of users, and who is in them. */
export function groupTables ({ schema }: Dialect, names: Names): string[] {
  const { bytewise, moment, isId, reference, keeps } = schema
  const { users, userGroups, memberships, quoted } = names
  return [
    `CREATE TABLE ${userGroups} (
        id ${bytewise} NOT NULL CONSTRAINT ${quoted('user_groups_pkey')} PRIMARY KEY
          CONSTRAINT ${quoted('user_groups_id_form')} CHECK (${isId('id', 'grp')}),
        version integer NOT NULL,
        name text NOT NULL,
        name_key ${bytewise} NOT NULL,
        external_id ${bytewise},
        members bigint NOT NULL,
        created_at ${moment} NOT NULL,
        updated_at ${moment} NOT NULL,
        tenant ${bytewise} NOT NULL DEFAULT '',
        CONSTRAINT ${quoted('user_groups_name_unique')} UNIQUE (name_key, tenant)
      )`,
    `CREATE INDEX ${quoted('user_groups_tenant')} ON ${userGroups} (tenant, id) WHERE tenant <> ''`,
    `CREATE INDEX ${quoted('user_groups_external_id')} ON ${userGroups} (external_id) WHERE external_id IS NOT NULL`,
    `CREATE TABLE ${memberships} (
        id ${bytewise} NOT NULL CONSTRAINT ${quoted('memberships_pkey')} PRIMARY KEY,
        version integer NOT NULL,
        group_id ${bytewise} NOT NULL${reference(quoted('memberships_group_fkey'), userGroups)},
        member ${bytewise} NOT NULL${keeps(quoted('memberships_member_fkey'), users)}
      )`,
    `CREATE INDEX ${quoted('memberships_group')} ON ${memberships} (group_id, member)`,
    `CREATE INDEX ${quoted('memberships_member')} ON ${memberships} (member, id)`
  ]
}
