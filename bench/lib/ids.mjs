import { uuidv7 } from 'uuidv7'

/** A new id as the hand-written servers make one. */
export const newId = () => `usr_${uuidv7().replaceAll('-', '')}`
