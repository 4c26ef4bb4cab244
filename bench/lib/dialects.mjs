// How each product is sent the same requests, and where its responses have the ids and the total. `cannot` names the
// cases that a product does not support.
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

const floor = { ...own, cannot: ['after', 'email', 'q'] }

const feathers = {
  // With a condition on the id (id[$gt]), its total counts only the users after that id.
  cannot: ['after'],
  list: ({ email, q, limit = 20, ...asked }) => ({
    path: `/bench_users?${query({
      ...(email !== undefined && { email_key: email.toLowerCase() }),
      ...(q !== undefined && {
        '$or[0][name_key][$like]': `${q.toLowerCase()}%`,
        '$or[1][email_key][$like]': `${q.toLowerCase()}%`
      }),
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

// The members that the other servers return. By default its routes return every column.
const FIELDS = 'fields=id,name,email,createdAt,updatedAt'
/** It writes exactly what a client sends, and needs whole rows, for an update too. */
const row = ({ name, email }) =>
  ({ name, nameKey: name.toLowerCase(), email, emailKey: email.toLowerCase(), version: 1 })

const platformatic = {
  // With a condition on the id (where.id.gt), its total counts only the users after that id.
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
  // It searches one field, not name or email. With a filter, its total counts only the users that match.
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
  // A list that fails is 200 with no users.
  verify: (text) => !text.startsWith('{"users":[]')
}

export const dialects = { own, floor, feathers, platformatic, betterAuth }
