import { memory } from '../../../adapters/memory/index.ts'

/** A store that no other process sees. */
export default () => memory()
