/**
 * Everything that is used beyond the documented interfaces of Fastify, pino and @fastify/rate-limit. Read in fastify
 * 5.12.8 and 6.0.0-alpha.4, pino 10.3 and @fastify/rate-limit 11.2. `test/http/fastify-internals.test.ts` fails if any
 * of it changes, and says what to do then.
 */
import { METHODS, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from 'fastify'
import { packageRequire } from '../core/optional-packages.ts'
import { http2Stream } from './break-off.ts'

/**
 * Fastify's logger for a host without one: the package abstract-logging, all of whose levels are one empty function.
 */
function findEmptyFunction (): unknown {
  try {
    return createRequire(packageRequire.resolve('fastify'))('abstract-logging').info
  } catch {
    // Without a function to compare with, no logger is silent.
    return null
  }
}

const emptyFunction = findEmptyFunction()
const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const

/** True if the host has no logger: then nothing has to be kept from it. */
export function isSilent (logger: FastifyBaseLogger): boolean {
  return LEVELS.every((level) => logger[level] === emptyFunction)
}

/** Where pino keeps the serialisers of a logger and its children. */
export const SERIALIZERS = Symbol.for('pino.serializers')

/** @fastify/rate-limit with a function that its types omit: the address as it is counted, for IPv6 its network. */
export type RateLimitPackage = typeof import('@fastify/rate-limit') & { normalizeIP: (ip: string) => string }

const ACCEPTED_METHODS = 'fastify.acceptedHTTPMethods'
const BINDINGS = 'fastify.serverBindings'
const OPTIONS = 'fastify.options'

/** The symbol by which an instance of Fastify, or one around it, has a member. */
function symbolOf (instance: FastifyInstance, name: string): symbol | undefined {
  let owner: object | null = instance
  let symbol: symbol | undefined
  while (owner !== null && symbol === undefined) {
    symbol = Object.getOwnPropertySymbols(owner).find(({ description }) => description === name)
    owner = Object.getPrototypeOf(owner)
  }
  return symbol
}

/** The further servers of a host that listens on several addresses, such as those of `localhost`. */
export function furtherServers (host: FastifyInstance): readonly Server[] {
  const symbol = symbolOf(host, BINDINGS)
  return symbol === undefined ? [] : Reflect.get(host, symbol)
}

/** The option `trustProxy` of a host, which its `initialConfig` lacks. */
export function trustProxyOf (host: FastifyInstance): unknown {
  const symbol = symbolOf(host, OPTIONS)
  return symbol === undefined ? undefined : Object(Reflect.get(host, symbol)).trustProxy
}

interface AcceptedMethods { bodyless: ReadonlySet<string>, bodywith: ReadonlySet<string> }

/**
 * Lets a scope route every method that Node.js parses, so that it can refuse them. `addHttpMethod` would change the
 * host's routes too: what a server accepts is one object of its root, and the scope gets one of its own.
 */
export function routeEveryMethod (scope: FastifyInstance): void {
  const symbol = symbolOf(scope, ACCEPTED_METHODS)
  if (symbol === undefined) return
  const { bodyless, bodywith }: AcceptedMethods = Reflect.get(scope, symbol)
  // CONNECT opens tunnels, and never reaches a router.
  const others = METHODS.filter((method) => method !== 'CONNECT' && !bodywith.has(method))
  const value: AcceptedMethods = { bodyless: new Set([...bodyless, ...others]), bodywith }
  Object.defineProperty(scope, symbol, { value })
}

/**
 * Lets whoever waits for the end of a response see that it is over. Fastify does so with `finished()` of Node.js, which
 * waits for ever for a response of HTTP/2 that was closed before: that one has no `closed`.
 */
export function tellClosed ({ raw }: FastifyReply): void {
  const stream = http2Stream(raw)
  if (stream !== null) Object.defineProperty(raw, 'closed', { get: () => stream.closed })
}
