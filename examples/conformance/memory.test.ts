import { describe, test } from 'node:test'
import { memory } from 'fastify-users/adapters/memory'
import { testStorage } from 'fastify-users/testing'

describe('the memory store', () => {
  testStorage({ test, create: () => memory() })
})
