export { memory } from './store.ts'
