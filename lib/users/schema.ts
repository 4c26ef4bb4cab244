import { Type } from '../typebox.ts'

/** Body of POST: both members, nothing else. What their texts may be, `rules.ts` says. */
export const createBody = Type.Object({ name: Type.String(), email: Type.String() }, { additionalProperties: false })

/** Body of PATCH (RFC 7396) after `id` was compared: any of the members. */
export const updateBody = Type.Partial(createBody, { additionalProperties: false })
