import { uuidv7 } from 'uuidv7'

/** A new id, as a hand-written server makes one. */
export const newId = () => `usr_${uuidv7().replaceAll('-', '')}`
