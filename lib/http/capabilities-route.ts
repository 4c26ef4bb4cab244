import type { FastifyInstance } from 'fastify'
import { capabilitiesOf, type Offer } from '../admin/capabilities.ts'
import { validationFailed } from '../core/errors.ts'
import { capabilitiesOperation } from '../openapi/capabilities-operation.ts'
import { JSON_TYPE } from './body.ts'
import { callerOf } from './caller.ts'
import {
  handlersUnder, parsedQuery, refuseOtherMethods, routeReads, type RouteSettings, strayParameters
} from './routing.ts'

/** Adds the route that says what its caller can do. `offer` is called for each request. */
export function capabilitiesRoute (scope: FastifyInstance, offer: () => Offer, settings: RouteSettings): void {
  const handler = handlersUnder(settings.limits)(async (request, reply) => {
    const faults = strayParameters(parsedQuery(request, settings))
    if (faults.length > 0) throw validationFailed(faults)
    return reply.type(JSON_TYPE).send(JSON.stringify(capabilitiesOf(callerOf(request), offer())))
  })
  routeReads(scope, '/capabilities', null, settings.describe(capabilitiesOperation), handler)
  refuseOtherMethods(scope, '/capabilities', ['GET', 'HEAD'])
}
