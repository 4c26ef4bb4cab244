#!/usr/bin/env node
import { CommanderError } from 'commander'
import { packageRequire } from '../lib/core/optional-packages.ts'
import { commandFirst } from './common.ts'
import { EXIT, failureOf } from './failure.ts'
import { createOutput } from './output.ts'
import { buildProgram } from './program.ts'

const { version }: { version: string } = packageRequire('fastify-users/package.json')

// Whoever writes gets the error. Without a listener it would end the process first.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

function end (error: unknown): void {
  const { message, exitCode } = failureOf(error)
  process.stderr.write(`${message}\n`)
  process.exitCode = exitCode
}

// commander writes it in parts.
let help = ''
try {
  const program = buildProgram(version, (text) => { help += text })
  await program.parseAsync(commandFirst(process.argv.slice(2)), { from: 'user' })
} catch (error) {
  // commander has printed its own message.
  if (!(error instanceof CommanderError)) end(error)
  else if (error.exitCode !== 0) process.exitCode = EXIT.usage
}
await createOutput(false).text(help).catch(end)
