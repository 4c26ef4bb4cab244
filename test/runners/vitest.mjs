import { test } from 'vitest'
import { memory } from 'fastify-users/adapters/memory'
import { testStorage } from 'fastify-users/testing'

const broken = () => ({ ...memory(), find: async (_name, keys) => keys.map(() => null) })
const create = process.env.BROKEN === undefined ? memory : broken
testStorage({ test, create, seed: 1 })
