/**
 * Duties of the conformance kit, each with mistakes that it must find. Each mistake is planted in a store of its own. A
 * duty that is missing here has not been shown to find anything.
 */
export const MISTAKES_BY_DUTY = {
  'createUser: an address that another user has is refused, and nothing is stored': [
    'no unique check on create', 'a refusal is answered as a success'
  ],
  'createUser: of many concurrent calls with one address, exactly one succeeds': [
    'the address is checked before an await'
  ],
  'createUser: an id that another user has is refused with fault': [
    'a taken id counts as a taken address', 'a taken id overwrites', 'a taken id is reported as unavailable'
  ],
  'createUser, updateUser: a text that cannot be stored unchanged is refused': [
    'NUL is removed', 'lone surrogates are replaced'
  ],
  'createUser: text of any script is stored unchanged': ['text is normalised'],
  'createUser: stored users share no objects with the caller': [
    'the given object is stored without a copy', 'the stored object is returned without a copy'
  ],
  'findUser: an unknown id returns null, whatever its text': ['an unknown user is undefined'],
  'updateUser: an address that another user has is refused, and nothing changes': [
    'no unique check on update', 'values are written before the unique check'
  ],
  'updateUser: an address may change its case, and a former address is free': [
    'a user’s own address counts as taken', 'the old address stays taken'
  ],
  'updateUser: a guard accepts exactly its versions': [
    'the version is not compared', 'an empty list of versions lets all pass', 'versions to avoid are ignored'
  ],
  'updateUser: of many concurrent calls with one version, exactly one succeeds': [
    'the version is compared before an await'
  ],
  'updateUser: of many concurrent calls without a guard, none is lost': ['a user is read before an await'],
  'updateUser: values that are stored already change nothing': ['stored values count as a change'],
  'updateUser: the guard is checked before the values and the address': ['stored values skip the guard'],
  'createUser, findUser: a user is returned as it was given': ['the version is text', 'times are Date objects'],
  'updateUser: sets the given values, adds 1 to the version, keeps the rest': ['a name is compared by its key'],
  'deleteUser: a guard accepts exactly its versions': ['delete ignores the guard'],
  'deleteUser: returns the last state, and no method finds the user afterwards': [
    'delete answers true', 'delete only marks'
  ],
  'deleteUser: the address is free again': ['a deleted address stays taken'],
  'listUsers: the total is the number of all matches of the filter': [
    'the total is text', 'the total ignores the filter', 'the total is of the page'
  ],
  'listUsers: items and total are from one snapshot during concurrent writes': ['the total is from another snapshot'],
  'listUsers: users are ordered by id, ascending or descending': ['the order is that of insertion'],
  'listUsers: an update does not change the order': ['the order is that of the last change'],
  'listUsers: pages by offset have every user once, and end': ['the limit is ignored', 'the last page is filled up'],
  'listUsers: a page after an id starts behind it, even if that user was deleted': [
    'the page after an id includes it', 'the page after a deleted user is the first',
    'the page after an id ignores the order'
  ],
  'listUsers: a prefix has no wildcards': ['a prefix has wildcards'],
  'listUsers: a prefix matches names and addresses, and lists each user once': [
    'a prefix matches inside a text', 'a prefix matches only names', 'a prefix lists a user twice',
    'a prefix disables after', 'with a prefix the total counts only users behind after'
  ],
  'listUsers: an e-mail key and a prefix must both match': ['an e-mail key or a prefix is enough'],
  'createUser with idempotency: another key is another creation, even if only its case differs': [
    'the idempotency key is compared in any case'
  ],
  'createUser with idempotency: another request with the same key is refused': ['the fingerprint is not compared'],
  'createUser with idempotency: a failed creation stores no key': ['the idempotency key stays without its user'],
  'createUser with idempotency: an expired key is free': ['the idempotency key never expires'],
  'createUser with idempotency: a repetition returns the user as it was created': [
    'a repetition returns the current user'
  ],
  'createUser with idempotency: deleting a user deletes its keys': ['the idempotency key outlives its user'],
  'createUser with idempotency: of many concurrent calls with one key, exactly one creates': [
    'the idempotency key is checked before an await'
  ],
  'pruneIdempotency: deletes the expired keys and no others': ['pruning deletes every key'],
  'createApiKey, findApiKey, findApiKeyByStart: a key is returned as it was given': ['the expiry of keys is dropped'],
  'createApiKey: stored keys share no objects with the caller': ['scopes are shared'],
  'createApiKey: of many concurrent first keys, exactly one is created': ['the first key is counted before an await'],
  'createApiKey: onlyFirst adds a key only to a store without any': [
    'a revoked key is no key', 'an expired key is no key'
  ],
  'rotateApiKey: adds the successor and lets the old key expire': [
    'rotation extends an expiry', 'rotation leaves the copy that is found by start'
  ],
  'rotateApiKey: an inactive key is refused and gets no successor': ['rotation accepts an inactive key'],
  'revokeApiKey: a repeated revocation keeps the time of the first': ['a repeated revocation sets a new time'],
  'revokeApiKey: with keepOneWith, the last active key with the scope is kept': [
    'the last key is revoked', 'an expired key counts as another', 'a revoked key counts as another',
    'a part of a scope counts as the scope'
  ],
  'revokeApiKey: with keepOneWith, one of many concurrently revoked keys is kept': [
    'the last key is checked before an await'
  ],
  'touchApiKey: stores the time of use, unless a later one is stored': ['an older time of use overwrites a later one'],
  'close: may be called twice; a later call works or throws unavailable': [
    'close throws when called twice', 'a call after close throws a TypeError'
  ],
  'migrate, check: repeated and concurrent calls keep all records': [
    'migrate throws when called twice', 'migrate deletes everything'
  ],
  'createUser: several users may have the same name': ['names are unique'],
  'updateUser: name and address change together, and are stored unchanged': [
    'of name and address only the name is stored', 'an update trims', 'lists show users as they were created'
  ],
  'deleteUser: of many concurrent calls, exactly one returns the user': ['delete is checked before an await'],
  'listUsers: an e-mail key matches exactly its user': ['an address ignores the page'],
  'listUsers: paging by after returns every user once during concurrent writes': [
    'paging by after skips a user in a larger store'
  ],
  'createApiKey: names and the order of scopes are stored unchanged': [
    'scopes are sorted', 'names of keys are trimmed'
  ],
  'rotateApiKey: of many concurrent rotations without overlap, exactly one succeeds': [
    'rotation is checked before an await'
  ],
  'createUser with fields: every method returns the fields as they were given, members in order': [
    'fields are forgotten', 'fields are sorted', 'null is removed', 'numbers are rounded'
  ],
  'createUser with fields: stored fields share no objects with the caller': [
    'the given fields are stored without a copy', 'the stored fields are returned without a copy'
  ],
  'updateUser with fields: all fields are replaced, and another order of members is a change': [
    'an update adds to the fields', 'the order of fields does not count', 'a change of only fields is ignored'
  ],
  'updateUser with fields: of many concurrent calls with one version, exactly one succeeds': [
    'fields are read before an await'
  ],
  'createUser with fields: a repetition returns the fields of the first creation': ['a repetition has no fields'],
  'listUsers with fields: the same value of the same type matches, with the exact total': [
    'fields are compared as text', 'fields are compared in any case', 'the total ignores fields'
  ],
  'listUsers with fields: every part of a filter must match': [
    'fields or another filter is enough', 'one of two fields is enough'
  ],
  'listUsers with fields: a filter matches the current fields after updates and deletions': [
    'filters compare the fields of the creation'
  ],
  'migrate, listUsers with fields: users from before a field was filterable are found': [
    'filters skip users from before migrate', 'names of fields have no case'
  ],
  'listUsers with fields: texts of any length are compared by every character': ['filters compare 255 characters'],
  'createUser: the longest name and address are stored, and lists find them': ['names are cut at 255 code units'],
  'updateUser: the returned user shares no objects with the store': ['an update returns the stored object'],
  'updateUser: an unknown id returns null, also with a guard': ['an update of an unknown user throws'],
  'updateUser: of many concurrent changes to one address, exactly one succeeds': [
    'a new address is checked before an await'
  ],
  'deleteUser, updateUser: a concurrent update is in the deleted user, or returns null': [
    'a user is read before an await'
  ],
  'createUser with idempotency: a repetition returns the first user and adds nothing': [
    'a repetition is reported as a creation'
  ],
  'listUsers: an empty store has an empty page and the total 0': ['the total of no users is null'],
  'listUsers: users that were created at the same time are ordered by id': ['the order is that of insertion'],
  'listUsers: a prefix may be any Unicode text': ['a prefix is a range that ends at U+FFFF'],
  'listUsers: a common prefix stays exact while its users are deleted': ['delete only marks'],
  'listUsers: after an update a prefix matches the new name and address': ['an update keeps the old name key'],
  'createApiKey: an id or a start that another key has is refused': ['a taken start is accepted'],
  'listApiKeys: keys are ordered by id, in pages, with the exact total': ['keys are listed in the order of creation'],
  'rotateApiKey: if the successor cannot be added, the old key is unchanged': [
    'the old key expires before the successor is added'
  ],
  'revokeApiKey: of many concurrent calls, exactly one changes the key': ['a revocation is checked before an await']
} as const

export type Duty = keyof typeof MISTAKES_BY_DUTY
export type Mistake = (typeof MISTAKES_BY_DUTY)[Duty][number]

/** True if the store has one of these mistakes. */
export type Is = (...mistakes: Mistake[]) => boolean
