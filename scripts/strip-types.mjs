// Runs TypeScript by tsx, for tests on a Node.js that cannot strip types itself. By default tap would use ts-node,
// which takes a second more for each test file.
import { register } from 'tsx/esm/api'

process.env.TAP_TYPE_STRIP_ONLY = '1'
register()
