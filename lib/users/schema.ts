import { type Static, Type } from '@sinclair/typebox'

const name = Type.String({ description: '1 to 200 characters (code points) after Unicode NFC and trimming, no control characters' })
const email = Type.String({ description: 'An ordinary e-mail address: at most 254 ASCII characters, at most 64 before the @' })

/** A user as answers show it. One schema for every operation. */
export const userSchema = Type.Object({
  id: Type.String({ description: 'TypeID: usr_ and 26 characters' }),
  name,
  email,
  createdAt: Type.String({ format: 'date-time' }),
  updatedAt: Type.String({ format: 'date-time' })
}, { additionalProperties: false })

/** Body of POST: both members, nothing else. */
export const createBody = Type.Object({ name, email }, { additionalProperties: false })

/** Body of PATCH (RFC 7396) after `id` was compared: any of the members. */
export const updateBody = Type.Partial(createBody, { additionalProperties: false })

export type UserInput = Static<typeof createBody>
export type UserPatch = Static<typeof updateBody> & { id?: string }
