// Imported for its effect by tests that create their own servers. It compares every answer of our routes with the
// description of the route. A difference makes the process fail.
import { subscribe } from 'node:diagnostics_channel'
import { failFor, watchAnswers } from './described.ts'

const hosts: Array<readonly string[]> = []

subscribe('fastify.initialization', (message) => { hosts.push(watchAnswers(Object(message).fastify)) })
failFor(() => hosts.flat())
