import { flagParameter } from '../core/parameters.ts'

/** Of a deletion. */
export const eraseParameter = flagParameter(
  'Take every value of the user out of its events, also if it is deleted already.'
)
