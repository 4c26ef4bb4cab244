import { test } from 'node:test'
import { memory } from 'fastify-users/adapters/memory'
import { testStorage } from 'fastify-users/testing'

const right = memory()
const broken = () => ({ ...memory(), users: { ...right.users, find: async () => null } })
const create = process.env.BROKEN === undefined ? memory : broken
testStorage({ test, create, seed: 1 })
