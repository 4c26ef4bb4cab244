/**
 * The command of a Node.js process as its users start it, for `spawn` and `execFile`. tap has every child load its TypeScript and its coverage, by NODE_OPTIONS, which
 * takes it a second and is not what is tested; so that goes on the way.
 */
export function plainNode (...args: readonly string[]): [command: string, args: string[]] {
  return ['env', ['-u', 'NODE_OPTIONS', process.execPath, ...args]]
}
