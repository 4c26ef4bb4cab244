// Runs TypeScript on a Node.js that cannot strip types itself, as later ones do: types become blanks, so that positions
// in stacks and in the coverage stay those of the source. By default tap would use ts-node, which takes a second more
// for each test file.
import { register } from 'node:module'

process.env.TAP_TYPE_STRIP_ONLY = '1'
register('./strip-types-hooks.mjs', import.meta.url)
