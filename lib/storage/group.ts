import type { GroupRecord } from './storage.ts'

/** A group of users. It says nothing about rights: what it means is yours. */
export interface Group {
  /** `grp_` and 26 characters, sortable by creation. */
  id: string
  /** Unique in its tenant, whatever its case and accents. */
  name: string
  /** What another system calls it. Absent: nothing. */
  externalId?: string
  /** How many members it has. */
  members: number
  /** Grows by one with every change of the group or of its members. */
  version: number
  createdAt: string
  updatedAt: string
  /** The tenant that it belongs to. Absent: it belongs to none. */
  tenant?: string
}

/** A group after its members have changed, and who it was, by their ids: at most 1,000 in one event. */
export interface GroupMembersChanged extends Group { added: string[], removed: string[] }

/** The kinds of change of a group, each with what is told of it. */
export interface GroupData {
  'group.created': Group
  'group.updated': Group
  'group.deleted': Group
  'group.members_changed': GroupMembersChanged
}

export type GroupEventType = keyof GroupData

/** The public view of a group. */
export function toGroup (record: GroupRecord): Group {
  const { id, name, externalId, members, version, createdAt, updatedAt, tenant } = record
  return {
    id,
    name,
    ...(externalId !== null && { externalId }),
    members,
    version,
    createdAt,
    updatedAt,
    ...(tenant !== undefined && { tenant })
  }
}

/** What a write tells of a group to a caller who may not read it. */
export function minimalGroup ({ id, createdAt, updatedAt }: Group): Pick<Group, 'id' | 'createdAt' | 'updatedAt'> {
  return { id, createdAt, updatedAt }
}
