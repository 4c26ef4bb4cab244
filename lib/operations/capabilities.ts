import { capabilitiesOf, type Offer } from '../admin/capabilities.ts'
import { callerOf } from '../http/caller.ts'
import { requireNoFaults, sendJson } from './answers.ts'
import type { Operation } from './operation.ts'

/** The operation that says what its caller can do. `offer` is called for each request. */
export const capabilitiesOperation = (offer: () => Offer): Operation => ({
  tag: 'capabilities',
  method: 'GET',
  path: '/capabilities',
  scope: null,
  operationId: 'getCapabilities',
  summary: 'Read what the caller can do',
  description: 'Who the caller is, with its scopes and tenant, and what this API offers. Any valid key will do. HEAD ' +
    'works too.',
  success: { status: 200, description: 'The capabilities.', is: 'Capabilities' },
  codes: ['validation_failed'],
  async handler ({ request, reply, faults }) {
    requireNoFaults(faults)
    return sendJson(reply, capabilitiesOf(callerOf(request), offer()))
  }
})
