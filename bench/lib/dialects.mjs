// How each product is asked for the same, and where its answer has the ids and the total. `cannot` names the cases it has no way to do.
const json = { 'content-type': 'application/json' }
const send = (method, path, body) => ({ method, path, headers: json, body: JSON.stringify(body) })
const query = (asked) => Object.entries(asked).map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
const skipped = ({ page = 1, limit = 20 }) => (page - 1) * limit
const idsOf = (rows) => rows.map(({ id }) => id)

const own = {
  cannot: [],
  list: (asked) => ({ path: `/v1/users?${query(asked)}` }),
  get: (id) => ({ path: `/v1/users/${id}` }),
  rename: ({ id }, name) => send('PATCH', `/v1/users/${id}`, { name }),
  create: (person) => send('POST', '/v1/users', person),
  answer: ({ data, meta }) => ({ ids: idsOf(data), total: meta.total })
}

const feathers = {
  // It can go on behind an id (id[$gt]), but its total is then of what is left, no longer of all.
  cannot: ['after'],
  list: ({ email, q, limit = 20, ...asked }) => ({
    path: `/bench_users?${query({
      ...(email !== undefined && { email_key: email.toLowerCase() }),
      ...(q !== undefined && { '$or[0][name_key][$like]': `${q.toLowerCase()}%`, '$or[1][email_key][$like]': `${q.toLowerCase()}%` }),
      $limit: limit,
      $skip: skipped({ ...asked, limit }),
      '$sort[id]': 1
    })}`
  }),
  get: (id) => ({ path: `/bench_users/${id}` }),
  rename: ({ id }, name) => send('PATCH', `/bench_users/${id}`, { name }),
  create: (person) => send('POST', '/bench_users', person),
  answer: ({ data, total }) => ({ ids: idsOf(data), total })
}

// What the others answer with too: its routes would give every column.
const FIELDS = 'fields=id,name,email,createdAt,updatedAt'
/** It writes what a client sends and nothing else, and takes whole rows alone, for an update too. */
const row = ({ name, email }) => ({ name, nameKey: name.toLowerCase(), email, emailKey: email.toLowerCase(), version: 1 })

const platformatic = {
  // As with Feathers: where.id.gt, and a total of what is left.
  cannot: ['after'],
  list: ({ email, q, limit = 20, ...asked }) => ({
    path: `/benchUsers?${query({
      ...(email !== undefined && { 'where.emailKey.eq': email.toLowerCase() }),
      ...(q !== undefined && { 'where.or': `(nameKey.like=${q.toLowerCase()}%|emailKey.like=${q.toLowerCase()}%)` }),
      limit,
      offset: skipped({ ...asked, limit }),
      'orderby.id': 'asc',
      totalCount: true
    })}&${FIELDS}`
  }),
  get: (id) => ({ path: `/benchUsers/${id}?${FIELDS}` }),
  rename: ({ id, email }, name) => send('PUT', `/benchUsers/${id}?${FIELDS}`, row({ name, email })),
  create: (person) => send('POST', '/benchUsers', row(person)),
  answer: (rows, headers) => ({ ids: idsOf(rows), total: Number(headers.get('x-total-count')) })
}

const betterAuth = {
  // It searches one field, not name or email; and has no filter beside which the total would be of all.
  cannot: ['after', 'q'],
  list: ({ email, limit = 20, ...asked }) => ({
    path: `/api/auth/admin/list-users?${query({
      ...(email !== undefined && { filterField: 'email', filterOperator: 'eq', filterValue: email.toLowerCase() }),
      limit,
      offset: skipped({ ...asked, limit }),
      sortBy: 'id',
      sortDirection: 'asc'
    })}`
  }),
  get: (id) => ({ path: `/api/auth/admin/get-user?id=${id}` }),
  rename: ({ id: userId }, name) => send('POST', '/api/auth/admin/update-user', { userId, data: { name } }),
  create: (person) => send('POST', '/api/auth/admin/create-user', person),
  answer: ({ users, total }) => ({ ids: idsOf(users), total }),
  // Where its list fails, it answers 200 and nobody.
  verify: (text) => !text.startsWith('{"users":[]')
}

export const dialects = { own, feathers, platformatic, betterAuth }
