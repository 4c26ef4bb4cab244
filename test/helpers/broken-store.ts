import { StorageError } from '../../lib/core/storage-error.ts'
import type { ApiKeyRecord, Idempotency, Json, JsonObject, PageRequest, Storage, UserKeys, UserRecord } from '../../lib/core/storage.ts'

/** One realistic mistake each, and the duty of the conformance kit that is there to find it. */
export const MISTAKES = {
  'no unique check on create': 'createUser: an e-mail key that is taken is refused, and nothing is stored',
  'check, then insert': 'createUser: of many at once with one e-mail key exactly one succeeds',
  'a taken id counts as a taken address': 'createUser: an id that is taken is refused, but not as an e-mail address',
  'a taken id overwrites': 'createUser: an id that is taken is refused, but not as an e-mail address',
  'NUL is lost': 'createUser, updateUser: a text that cannot be kept is refused, never altered',
  'lone surrogates are replaced': 'createUser, updateUser: a text that cannot be kept is refused, never altered',
  'text is normalised': 'createUser: text comes back unchanged, whatever its script',
  'the given object is kept': 'createUser: nothing is shared with the store',
  'the kept object is returned': 'createUser: nothing is shared with the store',
  'an unknown user is undefined': 'findUser: any text that is no user’s id finds nobody',
  'errors are swallowed': 'createUser: an e-mail key that is taken is refused, and nothing is stored',
  'no unique check on update': 'updateUser: an e-mail key that is taken is refused, and nothing changes',
  'values are written before the unique check': 'updateUser: an e-mail key that is taken is refused, and nothing changes',
  'the own address counts as taken': 'updateUser: an address may change its case, and gives its old key back',
  'the old address stays taken': 'updateUser: an address may change its case, and gives its old key back',
  'the version is not compared': 'updateUser: a guard lets its versions pass and no others',
  'an empty list of versions lets all pass': 'updateUser: a guard lets its versions pass and no others',
  'versions to avoid are ignored': 'updateUser: a guard lets its versions pass and no others',
  'the version is compared, then awaited': 'updateUser: of many at once under one version exactly one wins',
  'read, then write': 'updateUser: of many at once without a guard none is lost',
  'no change is a change': 'updateUser: values that are in place already change nothing',
  'no change skips the guard': 'updateUser: the guard is judged before the values and before the e-mail key',
  'the version is text': 'createUser: the user comes back as it was given',
  'times are Date objects': 'createUser: the user comes back as it was given',
  'a name is compared by its key': 'updateUser: sets the values, adds one to the version, keeps the rest',
  'delete ignores the guard': 'deleteUser: a guard lets its versions pass and no others',
  'delete answers true': 'deleteUser: gives back the last state, and the user is gone from everywhere',
  'a deleted address stays taken': 'deleteUser: the e-mail key is free again',
  'delete only marks': 'deleteUser: gives back the last state, and the user is gone from everywhere',
  'the total is text': 'listUsers: the total is a number, and of the filter',
  'the total ignores the filter': 'listUsers: the total is a number, and of the filter',
  'the total is of the page': 'listUsers: the total is a number, and of the filter',
  'the total is of another moment': 'listUsers: page and total are of one moment while others write',
  'the order is that of insertion': 'listUsers: in the order of ids, whatever the order of creation, and back',
  'the order is that of the last change': 'listUsers: an update does not move a user',
  'the limit is ignored': 'listUsers: pages by offset cover everyone once, and end',
  'the last page is filled up': 'listUsers: pages by offset cover everyone once, and end',
  'after is included': 'listUsers: walks by after, whether or not that user still exists',
  'after a deleted user begins anew': 'listUsers: walks by after, whether or not that user still exists',
  'after ignores the order': 'listUsers: walks by after, whether or not that user still exists',
  'wildcards are live': 'listUsers: in a prefix every character stands for itself',
  'q looks inside': 'listUsers: a prefix finds names and addresses, each user once',
  'q finds names alone': 'listUsers: a prefix finds names and addresses, each user once',
  'q finds somebody twice': 'listUsers: a prefix finds names and addresses, each user once',
  'email and q widen each other': 'listUsers: an e-mail key and a prefix narrow each other',
  'the idempotency key is compared in any case': 'createUser with a key: another key is another creation, also where only the case differs',
  'the fingerprint is not compared': 'createUser with a key: another request under it is refused',
  'the idempotency key stays without its user': 'createUser with a key: a creation that fails leaves no key behind',
  'the idempotency key never expires': 'createUser with a key: once expired the key is free',
  'the replay is the user of today': 'createUser with a key: the answer is the user as it was then',
  'the idempotency key outlives its user': 'createUser with a key: a deleted user takes its keys along',
  'the idempotency key is looked up, then written': 'createUser with a key: of many at once exactly one creates',
  'pruning forgets everything': 'pruneIdempotency: forgets what is expired and nothing else',
  'the expiry of keys is dropped': 'createApiKey: the key comes back as it was given, by id and by start',
  'scopes are shared': 'createApiKey: nothing is shared with the store',
  'the first key is counted, then made': 'createApiKey: of many first keys at once exactly one is made',
  'a revoked key is no key': 'createApiKey: onlyFirst adds to an empty store alone',
  'rotation lengthens a life': 'rotateApiKey: adds the successor and lets the old key expire',
  'rotation revives': 'rotateApiKey: a key that is not active keeps its state and has no successor',
  'revoking again moves the moment': 'revokeApiKey: marks the key once and keeps the first moment',
  'the last key goes': 'revokeApiKey: where a scope must not run out the last active key that has it stays',
  'an expired key counts as another': 'revokeApiKey: where a scope must not run out the last active key that has it stays',
  'a revoked key counts as another': 'revokeApiKey: where a scope must not run out the last active key that has it stays',
  'a part of a scope counts': 'revokeApiKey: where a scope must not run out the last active key that has it stays',
  'the last key is judged, then revoked': 'revokeApiKey: of many with a scope that must not run out, revoked at once, one stays',
  'an older use overwrites': 'touchApiKey: notes a use, unless a later one is known',
  'close throws when called twice': 'close: may be called more than once, and a call after it is answered or unavailable',
  'migrate throws when called twice': 'migrate: may run again, and at once with itself, and loses nothing',
  'names are unique': 'createUser: many may have the same name',
  'a taken id is worth another try': 'createUser: an id that is taken is refused, but not as an e-mail address',
  'migrate begins anew': 'migrate: may run again, and at once with itself, and loses nothing',
  'a call after close throws anything': 'close: may be called more than once, and a call after it is answered or unavailable',
  'of name and address only the name is written': 'updateUser: name and address change together, and any text comes back',
  'an update trims': 'updateUser: name and address change together, and any text comes back',
  'a list shows what users were': 'updateUser: name and address change together, and any text comes back',
  'delete is looked up, then done': 'deleteUser: of many at once exactly one gets the user',
  'the prefix swallows after': 'listUsers: a prefix finds names and addresses, each user once',
  'with a prefix the total is of those behind': 'listUsers: a prefix finds names and addresses, each user once',
  'an address ignores the page': 'listUsers: an e-mail key finds its user alone',
  'after a moment of others a walk skips': 'listUsers: a walk by after meets everyone once while others come and go',
  'scopes are sorted': 'createApiKey: names and the order of scopes come back unchanged',
  'names of keys are trimmed': 'createApiKey: names and the order of scopes come back unchanged',
  'an expired key is no key': 'createApiKey: onlyFirst adds to an empty store alone',
  'rotation leaves the copy by start': 'rotateApiKey: adds the successor and lets the old key expire',
  'rotation is judged, then done': 'rotateApiKey: of many at once without overlap exactly one succeeds',
  'fields are forgotten': 'fields: come back as they were given, members in their order, wherever a user is read',
  'fields are sorted': 'fields: come back as they were given, members in their order, wherever a user is read',
  'null is absent': 'fields: come back as they were given, members in their order, wherever a user is read',
  'numbers are cut off': 'fields: come back as they were given, members in their order, wherever a user is read',
  'given fields are kept': 'fields: are the caller’s to change before and after',
  'kept fields are returned': 'fields: are the caller’s to change before and after',
  'an update adds to the fields': 'fields: an update sets all of them, and another order of members is a change',
  'the order of fields does not count': 'fields: an update sets all of them, and another order of members is a change',
  'a change of fields alone is none': 'fields: an update sets all of them, and another order of members is a change',
  'fields are read, then written': 'fields: of many updates of one version exactly one succeeds',
  'a replay has no fields': 'fields: a repeated creation gives back those of the first',
  'fields are compared as text': 'filter by fields: equal and of one type, with the exact total, in both orders',
  'fields are compared in any case': 'filter by fields: equal and of one type, with the exact total, in both orders',
  'the total ignores fields': 'filter by fields: equal and of one type, with the exact total, in both orders',
  'fields widen a filter': 'filter by fields: all parts of a filter narrow it',
  'one field is enough': 'filter by fields: all parts of a filter narrow it',
  'fields are found as they were': 'filter by fields: follows every change of a user',
  'what was there before is not found': 'filter by fields: users from before a field could be filtered are found too',
  'names of fields have no case': 'filter by fields: users from before a field could be filtered are found too',
  'long values are cut off': 'filter by fields: long and odd texts are told apart by every character'
} as const

export type Mistake = keyof typeof MISTAKES

interface Entry { user: UserRecord, first: UserRecord, keys: UserKeys, deleted: boolean, changed: number, indexed: boolean }

const sorted = (value: JsonObject): JsonObject => Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1))

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** The plainest store there is, arrays and loops, with one mistake planted; with none it is right. */
export function brokenStore (mistake: Mistake | null): Storage {
  const is = (...mistakes: Mistake[]) => mistakes.some((each) => each === mistake)
  let users: Entry[] = []
  let keys: ApiKeyRecord[] = []
  let remembered: Array<Idempotency & { user: UserRecord }> = []
  const spent = new Set<string>()
  const filterable = new Set<string>()
  let [closed, migrated, clock] = [0, 0, 0]

  const at = (id: string) => users.find(({ user, deleted }) => user.id === id && !deleted)
  const holder = (emailKey: string) => users.find(({ keys, deleted }) => keys.emailKey === emailKey && (!deleted || is('a deleted address stays taken')))
  const taken = () => new StorageError('email_taken', 'taken')
  const view = (user: UserRecord): UserRecord => {
    if (is('the kept object is returned')) return user
    const copy: object = {
      ...user,
      ...(!is('kept fields are returned') && { fields: structuredClone(user.fields) }),
      ...(is('the version is text') && { version: String(user.version) }),
      ...(is('times are Date objects') && { createdAt: new Date(user.createdAt) })
    }
    return Object(copy)
  }
  const kept = (user: UserRecord): UserRecord => {
    if (is('the given object is kept')) return user
    let { name } = user
    if (is('NUL is lost')) name = name.replaceAll('\0', '')
    if (is('lone surrogates are replaced')) name = name.toWellFormed()
    if (is('text is normalised')) name = name.normalize('NFKC').trim()
    return { ...user, name, ...keptFields(user.fields) }
  }
  function keptFields (fields: JsonObject): { fields: JsonObject } {
    if (is('fields are forgotten')) return { fields: {} }
    if (is('given fields are kept')) return { fields }
    const round = (_name: string, value: Json) => is('numbers are cut off') && typeof value === 'number' ? Number(value.toFixed(6)) : is('null is absent') && value === null ? undefined : value
    return { fields: JSON.parse(JSON.stringify(is('fields are sorted') ? sorted(fields) : fields, round)) }
  }
  function hasFields ({ user, first, indexed }: Entry, wanted: Readonly<Record<string, unknown>>): boolean {
    const { fields } = is('fields are found as they were') ? first : user
    const same = (a: unknown, b: unknown): boolean => {
      if (is('fields are compared as text')) return String(a) === String(b)
      if (typeof a !== 'string' || typeof b !== 'string') return a === b
      if (is('fields are compared in any case')) return a.toLowerCase() === b.toLowerCase()
      return is('long values are cut off') ? a.slice(0, 255) === b.slice(0, 255) : a === b
    }
    const valueOf = (name: string) => is('names of fields have no case') ? Object.entries(fields).find(([each]) => each.toLowerCase() === name.toLowerCase())?.[1] : Object.hasOwn(fields, name) ? fields[name] : undefined
    if (is('what was there before is not found') && Object.keys(wanted).length > 0 && !indexed) return false
    const found = Object.entries(wanted).map(([name, value]) => same(valueOf(name), value))
    return is('one field is enough') && found.length > 0 ? found.includes(true) : !found.includes(false)
  }
  const compare = (guard: { ifVersion: readonly number[] | null, unlessVersion: readonly number[] }, { version }: UserRecord) => {
    const none = guard.ifVersion === null || (is('an empty list of versions lets all pass') && guard.ifVersion.length === 0)
    const avoided = !is('versions to avoid are ignored') && guard.unlessVersion.includes(version)
    if (!is('the version is not compared') && ((!none && !guard.ifVersion?.includes(version)) || avoided)) throw new StorageError('version_mismatch', 'another version')
  }
  const begins = (text: string, prefix: string) => {
    if (is('q looks inside')) return text.includes(prefix)
    if (is('wildcards are live')) return new RegExp(`^${prefix.replace(/[^%_]/g, '\\$&').replaceAll('%', '.*').replaceAll('_', '.')}`, 'su').test(text)
    return text.startsWith(prefix)
  }

  return {
    name: 'broken',
    supports: { transactions: false },
    joinTransaction () { throw new TypeError('no transactions') },
    async check () {},
    async migrate (needs) {
      for (const name of needs?.filterable ?? []) filterable.add(name)
      if (migrated++ === 0) return
      if (is('migrate throws when called twice')) throw new Error('table already exists')
      if (is('migrate begins anew')) [users, keys] = [[], []]
    },
    async close () { if (closed++ > 0 && is('close throws when called twice')) throw new Error('already closed') },

    async createUser (user, userKeys, idempotency) {
      const known = idempotency === null
        ? undefined
        : remembered.find(({ key, expiresAt }) => (key === idempotency.key || (is('the idempotency key is compared in any case') && key.toLowerCase() === idempotency.key.toLowerCase())) && (expiresAt > idempotency.now || is('the idempotency key never expires')))
      if (known !== undefined && idempotency !== null) {
        if (known.fingerprint !== idempotency.fingerprint && !is('the fingerprint is not compared')) throw new StorageError('idempotency_key_reused', 'reused')
        const now = at(known.user.id)
        return { user: { ...(is('the replay is the user of today') && now !== undefined ? now.user : known.user), ...(is('a replay has no fields') && { fields: {} }) }, replayed: true }
      }
      if (idempotency !== null) {
        if (is('the idempotency key is looked up, then written')) await turn()
        remembered = remembered.filter(({ key }) => key !== idempotency.key)
        if (is('the idempotency key stays without its user')) remembered.push({ ...idempotency, user: { ...user } })
      }
      const isTaken = holder(userKeys.emailKey) !== undefined || spent.has(userKeys.emailKey)
      if (is('check, then insert', 'the idempotency key is looked up, then written')) await turn()
      if (isTaken && !is('no unique check on create')) {
        if (is('errors are swallowed')) return { user: { ...user }, replayed: false }
        throw taken()
      }
      if (is('names are unique') && users.some(({ keys }) => keys.nameKey === userKeys.nameKey)) throw new StorageError('fault', 'taken')
      if (at(user.id) !== undefined && is('a taken id is worth another try')) throw new StorageError('unavailable', 'conflict')
      if (at(user.id) !== undefined && !is('a taken id overwrites')) throw is('a taken id counts as a taken address') ? taken() : new StorageError('fault', 'the id is taken')
      users = users.filter(({ user: { id } }) => id !== user.id)
      users.push({ user: kept(user), first: { ...user }, keys: { ...userKeys }, deleted: false, changed: clock++, indexed: filterable.size > 0 })
      if (idempotency !== null && !is('the idempotency key stays without its user')) remembered.push({ ...idempotency, user: { ...user } })
      return { user: structuredClone(user), replayed: false }
    },

    async pruneIdempotency (now) {
      remembered = is('pruning forgets everything') ? [] : remembered.filter(({ expiresAt }) => expiresAt > now)
    },

    async findUser (id) {
      if (closed > 0 && is('a call after close throws anything')) throw new TypeError('no connection')
      const entry = at(id)
      if (entry === undefined) return is('an unknown user is undefined') ? Object(undefined)[''] : null
      return view(entry.user)
    },

    async listUsers ({ emailKey, prefix, fields }, { order, limit, from }: PageRequest) {
      const matches = (entry: Entry) => {
        const byEmail = emailKey === null || entry.keys.emailKey === emailKey
        if (is('the prefix swallows after') && emailKey === null && prefix !== null && begins(entry.keys.nameKey, prefix)) return true
        const byPrefix = prefix === null || begins(entry.keys.nameKey, prefix) || (!is('q finds names alone') && begins(entry.keys.emailKey, prefix))
        const byFields = hasFields(entry, fields)
        if (is('fields widen a filter') && Object.keys(fields).length > 0 && (emailKey !== null || prefix !== null)) return byFields || (byEmail && byPrefix)
        return byFields && (is('email and q widen each other') && emailKey !== null && prefix !== null ? byEmail || byPrefix : byEmail && byPrefix)
      }
      const there = users.filter(({ deleted }) => !deleted || is('delete only marks'))
      let found = there.filter(matches)
      if (is('q finds somebody twice') && prefix !== null) found = found.flatMap((entry) => begins(entry.keys.nameKey, prefix) && begins(entry.keys.emailKey, prefix) ? [entry, entry] : [entry])
      const counted = (is('the total ignores the filter') || (is('the total ignores fields') && Object.keys(fields).length > 0) ? there : found).length
      if (is('the total is of another moment')) {
        await turn()
        found = users.filter(matches)
      }
      if (is('the order is that of the last change')) found = found.toSorted((a, b) => a.changed - b.changed)
      else if (!is('the order is that of insertion')) found = found.toSorted((a, b) => a.user.id < b.user.id ? -1 : 1)
      if (order === 'desc') found.reverse()
      let start = 'offset' in from ? from.offset : 0
      if ('after' in from) {
        const { after } = from
        const forward = order === 'asc' || is('after ignores the order')
        start = found.findIndex(({ user: { id } }) => (forward ? id > after : id < after) || (is('after is included') && id === after))
        if (is('after a deleted user begins anew') && !found.some(({ user: { id } }) => id === after)) start = 0
        if (start === -1) start = found.length
      }
      if (is('the last page is filled up')) start = Math.max(0, Math.min(start, found.length - limit))
      if (is('an address ignores the page') && emailKey !== null) start = 0
      if (is('the prefix swallows after') && prefix !== null && 'after' in from) {
        // name LIKE … OR email LIKE … AND id > …: what binds tighter is not what was meant.
        const { after } = from
        found = found.filter(({ user, keys }) => begins(keys.nameKey, prefix) || (order === 'asc' ? user.id > after : user.id < after))
        start = 0
      }
      if (is('after a moment of others a walk skips') && 'after' in from && users.length > 50) start++
      const behind = found.length - start
      const page = found.slice(start, is('the limit is ignored') ? undefined : start + limit)
      const total = is('the total is of the page') ? page.length : is('with a prefix the total is of those behind') && prefix !== null && 'after' in from ? behind : counted
      return { items: page.map(({ user, first }) => view(is('a list shows what users were') ? first : user)), total: is('the total is text') ? Object(JSON.parse(JSON.stringify(String(total)))) : total }
    },

    async updateUser (id, { name, email, fields }, updatedAt, guard) {
      const entry = at(id)
      if (entry === undefined) return null
      const before = { ...entry.user }
      const same = (name === undefined || name.value === before.name || (is('a name is compared by its key') && name.key === entry.keys.nameKey)) && (email === undefined || email.value === before.email) &&
        (fields === undefined || is('a change of fields alone is none') || JSON.stringify(is('the order of fields does not count') ? sorted(fields) : fields) === JSON.stringify(is('the order of fields does not count') ? sorted(before.fields) : before.fields))
      if (same && is('no change skips the guard')) return { user: view(before), changed: false }
      compare(guard, before)
      if (is('the version is compared, then awaited', 'read, then write') || (is('fields are read, then written') && fields !== undefined)) await turn()
      if (same && !is('no change is a change')) return { user: view(before), changed: false }
      const next: UserRecord = { ...before, name: name?.value ?? before.name, email: email?.value ?? before.email, version: before.version + 1, updatedAt, ...(fields !== undefined && keptFields(is('an update adds to the fields') ? { ...before.fields, ...fields } : fields)) }
      if (is('values are written before the unique check')) entry.user = next
      const other = email === undefined ? undefined : holder(email.key)
      if (!is('no unique check on update') && other !== undefined && (other !== entry || is('the own address counts as taken'))) throw taken()
      if (is('the old address stays taken') && email !== undefined && email.key !== entry.keys.emailKey) spent.add(entry.keys.emailKey)
      entry.user = { ...next, ...(is('an update trims') && { name: next.name.trim() }), ...(is('of name and address only the name is written') && name !== undefined && { email: before.email }) }
      entry.changed = clock++
      entry.keys = { nameKey: name?.key ?? entry.keys.nameKey, emailKey: email?.key ?? entry.keys.emailKey }
      return { user: view(next), changed: true }
    },

    async deleteUser (id, guard) {
      const entry = at(id)
      if (entry === undefined) return null
      if (!is('delete ignores the guard')) compare(guard, entry.user)
      if (is('delete is looked up, then done')) await turn()
      entry.deleted = true
      if (!is('delete only marks', 'a deleted address stays taken')) users = users.filter((each) => each !== entry)
      if (!is('the idempotency key outlives its user')) remembered = remembered.filter(({ user }) => user.id !== id)
      return is('delete answers true') ? Object(JSON.parse('true')) : entry.user
    },

    async createApiKey (key, { onlyFirst }) {
      const any = keys.some(({ revokedAt, expiresAt }) => (revokedAt === null || !is('a revoked key is no key')) && (expiresAt === null || !is('an expired key is no key')))
      if (is('the first key is counted, then made')) await turn()
      if (onlyFirst && any) return false
      if (keys.some(({ id, start }) => id === key.id || start === key.start)) throw new StorageError('fault', 'taken')
      keys.push({ ...key, scopes: is('scopes are shared') ? key.scopes : is('scopes are sorted') ? key.scopes.toSorted() : [...key.scopes], ...(is('names of keys are trimmed') && { name: key.name.trim() }), ...(is('the expiry of keys is dropped') && { expiresAt: null }) })
      return true
    },
    async findApiKey (id) {
      const key = keys.find((each) => each.id === id)
      return key === undefined ? null : { ...key, scopes: is('scopes are shared') ? key.scopes : [...key.scopes] }
    },
    async findApiKeyByStart (start) {
      const key = keys.find((each) => each.start === start)
      return key === undefined ? null : { ...key, scopes: [...key.scopes], ...(is('rotation leaves the copy by start') && key.expiresAt !== null && { expiresAt: null }) }
    },
    async listApiKeys ({ order, limit, from }) {
      const sorted = keys.toSorted((a, b) => (a.id < b.id ? -1 : 1) * (order === 'asc' ? 1 : -1))
      const items = 'offset' in from ? sorted.slice(from.offset) : sorted.filter(({ id }) => order === 'asc' ? id > from.after : id < from.after)
      return { items: items.slice(0, limit).map((key) => ({ ...key, scopes: [...key.scopes] })), total: keys.length }
    },
    async rotateApiKey (id, successor, { now, expiresAt }) {
      const key = keys.find((each) => each.id === id)
      if (key === undefined) return null
      const inactive = key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= now)
      if (is('rotation is judged, then done')) await turn()
      if (inactive && !is('rotation revives')) throw new StorageError('api_key_inactive', 'inactive')
      if (keys.some(({ start }) => start === successor.start)) throw new StorageError('fault', 'taken')
      keys.push({ ...successor, scopes: [...successor.scopes] })
      if (key.expiresAt === null || key.expiresAt > expiresAt || is('rotation lengthens a life')) key.expiresAt = expiresAt
      return { ...key, scopes: [...key.scopes] }
    },
    async revokeApiKey (id, revokedAt, { keepOneWith }) {
      const key = keys.find((each) => each.id === id)
      if (key === undefined) return null
      const active = ({ revokedAt: end, expiresAt }: ApiKeyRecord, mistakes: boolean) => (end === null || (mistakes && is('a revoked key counts as another'))) &&
        (expiresAt === null || expiresAt > revokedAt || (mistakes && is('an expired key counts as another')))
      const has = ({ scopes }: ApiKeyRecord) => is('a part of a scope counts') ? scopes.join(' ').includes(String(keepOneWith)) : scopes.includes(String(keepOneWith))
      if (keepOneWith !== null && !is('the last key goes') && active(key, false) && has(key)) {
        if (!keys.some((other) => other !== key && active(other, true) && has(other))) throw new StorageError('last_admin_key', 'last')
        if (is('the last key is judged, then revoked')) await turn()
      }
      const changed = key.revokedAt === null
      if (changed || is('revoking again moves the moment')) key.revokedAt = revokedAt
      return { key: { ...key, scopes: [...key.scopes] }, changed }
    },
    async touchApiKey (id, usedAt, ifBefore) {
      keys = keys.map((key) => key.id === id && (key.lastUsedAt === null || key.lastUsedAt <= ifBefore || is('an older use overwrites')) ? { ...key, lastUsedAt: usedAt } : key)
    }
  }
}
