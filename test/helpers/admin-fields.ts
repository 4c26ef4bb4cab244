import { type Static, Type } from '@sinclair/typebox'

/** Fields with every kind of control. */
export const FIELDS = Type.Object({
  plan: Type.Union([Type.Literal('free'), Type.Literal('pro')], { default: 'free', title: 'Plan' }),
  seats: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, title: 'Seats' })),
  active: Type.Boolean({ default: true, title: 'Active' }),
  newsletter: Type.Optional(Type.Boolean({ title: 'Newsletter' })),
  born: Type.Optional(Type.String({ format: 'date', title: 'Born' })),
  seen: Type.Optional(Type.String({ format: 'date-time', title: 'Seen' })),
  note: Type.Optional(Type.String({ maxLength: 1000, title: 'Note' })),
  tags: Type.Optional(Type.Array(Type.String(), { title: 'Tags' })),
  address: Type.Optional(Type.Object({ city: Type.String({ title: 'City' }), zip: Type.Optional(Type.String()) })),
  any: Type.Optional(Type.Unknown({ title: 'Anything' }))
})

type Fields = Static<typeof FIELDS>
/** Those with a default may be absent. */
export type OwnFields = Omit<Fields, 'plan' | 'active'> & Partial<Pick<Fields, 'plan' | 'active'>>
