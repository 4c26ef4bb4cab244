import { flagParameter } from '../core/parameters.ts'

/** The query parameter of revocations. */
export const forceParameter = flagParameter('Revoke even the last key that can manage keys.')
