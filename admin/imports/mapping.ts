/** Which columns of a file each member of a user comes from; several are put together with a blank. */
export type Mapping = Readonly<Record<string, readonly string[]>>

/** What other systems call the members of every user. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  name: ['fullname', 'displayname', 'username'],
  email: ['mail', 'emailaddress', 'primaryemailaddress', 'emailaddressrequired']
}
const FIRST = ['firstname', 'givenname', 'firstnamerequired']
const LAST = ['lastname', 'familyname', 'surname', 'lastnamerequired']

/** Names are compared without case, blanks and signs, as the server compares them. */
const plain = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** True if the parameter `map` of the API can name a column: it is divided at commas. */
export const isMappable = (column: string): boolean => column !== '' && !column.includes(',')

/** A first and a last name, if the file has them apart. */
export function nameParts (columns: readonly string[]): string[] | null {
  const of = (names: readonly string[]) => columns.find((column) => names.includes(plain(column)))
  const [first, last] = [of(FIRST), of(LAST)]
  return first === undefined || last === undefined ? null : [first, last]
}

/** The mapping that the names of the columns suggest. */
export function guess (columns: readonly string[], members: readonly string[]): Mapping {
  return Object.fromEntries(members.map((member) => {
    const names = [plain(member), ...SYNONYMS[member] ?? []]
    const found = names.map((name) => columns.find((column) => plain(column) === name))
      .find((column) => column !== undefined)
    const parts = member === 'name' ? nameParts(columns) : null
    return [member, found === undefined ? parts ?? [] : [found]]
  }))
}

/** Members that no form has, and that the server reads from columns of their names. */
const OTHERS = ['id', 'status', 'statusReason', 'tenant', 'createdAt', 'updatedAt'].map(plain)

const isOwn = (member: string, from: readonly string[]): boolean =>
  from.length === 1 && plain(from[0] ?? '') === plain(member)

/** The columns that nothing of a user comes from. A column such as `address.city` is a part of a member. */
export function unused (mapping: Mapping, columns: readonly string[]): string[] {
  const used = Object.values(mapping).flat()
  const members = Object.keys(mapping).map(plain)
  return columns.filter((column) => {
    const [whole = ''] = column.replace(/^fields\./i, '').split('.')
    const isPart = whole !== column && members.includes(plain(whole))
    return column !== '' && !used.includes(column) && !OTHERS.includes(plain(column)) && !isPart
  })
}

/** The mapping as the parameter `map` of the API has it: what differs from the names of the columns. */
export function written (mapping: Mapping, columns: readonly string[]): string {
  return Object.entries(mapping).flatMap(([member, from]) => {
    if (isOwn(member, from)) return []
    if (from.length > 0) return from.map((column) => `${member}:${column}`)
    return columns.some((column) => plain(column) === plain(member)) ? [`${member}:`] : []
  }).join()
}
