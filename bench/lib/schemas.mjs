// The JSON Schemas of the hand-written servers.
const text = { type: 'string' }

/** A user in a response. */
export const user = {
  type: 'object',
  properties: { id: text, name: text, email: text, createdAt: text, updatedAt: text }
}

const meta = {
  type: 'object',
  properties: { page: { type: 'integer' }, limit: { type: 'integer' }, total: { type: 'integer' } }
}

/** A page of users in a response. */
export const list = { type: 'object', properties: { data: { type: 'array', items: user }, meta } }

/** The body of a request that creates a user. */
export const newUser = {
  type: 'object',
  required: ['name', 'email'],
  properties: { name: { type: 'string', minLength: 1, maxLength: 200 }, email: { type: 'string', format: 'email' } }
}

/** The query parameters of a list. */
export const listQuery = {
  type: 'object',
  properties: {
    page: { type: 'integer', minimum: 1 },
    limit: { type: 'integer', minimum: 1, maximum: 100 },
    after: text,
    email: text,
    q: text
  }
}
