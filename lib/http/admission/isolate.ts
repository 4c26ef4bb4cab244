import type { FastifyInstance, FastifyRequest } from 'fastify'
import { BODY_MAX } from '../../core/limits.ts'
import { parseJsonBytes } from '../../core/strict-json.ts'
import { type AdmissionOptions, admitRequests, notFound } from './admission.ts'
import { createErrorHandler, type ErrorFormat } from '../responses/problem.ts'

export interface IsolateOptions extends AdmissionOptions {
  errorFormat: ErrorFormat
  /** True if unknown paths of this scope are ours to answer. */
  ownsNotFound: boolean
}

/**
 * Isolates a scope from the host: authentication first, then our parser and error handler. The services check every
 * value, and responses are sent as finished text, so routes have no schemas for the host's compilers.
 */
export function isolate (scope: FastifyInstance, { errorFormat, ownsNotFound, ...admission }: IsolateOptions): void {
  admitRequests(scope, admission)
  scope.removeAllContentTypeParsers()
  const parser = async (_request: FastifyRequest, body: Buffer) => parseJsonBytes(body)
  scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_MAX }, parser)
  scope.setErrorHandler(createErrorHandler(errorFormat, admission.securityLog.answered))
  if (ownsNotFound) scope.setNotFoundHandler(notFound)
}
