#!/usr/bin/env node
import { createRequire } from 'node:module'
import { CommanderError } from 'commander'
import { EXIT, failureOf } from './failure.ts'
import { buildProgram } from './program.ts'

const { version }: { version: string } = createRequire(import.meta.url)('fastify-users/package.json')

try {
  await buildProgram(version).parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    // commander has printed the message.
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage
  } else {
    const { message, exitCode } = failureOf(error)
    process.stderr.write(`${message}\n`)
    process.exitCode = exitCode
  }
}
