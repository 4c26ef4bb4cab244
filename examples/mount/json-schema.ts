import type { FieldsJsonSchema } from 'fastify-users'

interface PlanFields { plan?: 'free' | 'pro' }

const planFields: FieldsJsonSchema<PlanFields> = {
  type: 'object',
  properties: { plan: { enum: ['free', 'pro'], default: 'free' } }
}

export { planFields, type PlanFields }
