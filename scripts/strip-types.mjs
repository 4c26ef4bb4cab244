// Runs TypeScript by tsx, for tests on a Node.js that can't do so itself. tap would take ts-node, and a second more for each file of tests.
import { register } from 'tsx/esm/api'

process.env.TAP_TYPE_STRIP_ONLY = '1'
register()
