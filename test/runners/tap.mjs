import { test } from 'tap'
import { memory } from 'fastify-users/adapters/memory'
import { testStorage } from 'fastify-users/testing'

const broken = () => ({ ...memory(), findUser: async () => null })
const create = process.env.BROKEN === undefined ? memory : broken
testStorage({ test, create, seed: 1 })
