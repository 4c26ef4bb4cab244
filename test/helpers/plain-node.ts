/**
 * The command of a Node.js process without tap's NODE_OPTIONS, for `spawn` and `execFile`. With them every child would
 * load tap's TypeScript and coverage, which takes a second.
 */
export function plainNode (...args: readonly string[]): [command: string, args: string[]] {
  return ['env', ['-u', 'NODE_OPTIONS', process.execPath, ...args]]
}
