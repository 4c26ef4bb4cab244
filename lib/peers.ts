import { createRequire } from 'node:module'

/**
 * A `require` for the optional peers of this package, once all of them are known to be installed and to load.
 * @throws Error that names the missing ones and the command that installs them, or the one that is installed and doesn't load
 */
export function requirePeers (usedBy: string, packages: readonly string[]): NodeJS.Require {
  const require = createRequire(import.meta.url)
  const missing = packages.filter((name) => {
    try {
      require.resolve(name)
      return false
    } catch {
      return true
    }
  })
  if (missing.length > 0) throw new Error(`fastify-users: ${usedBy} needs ${missing.join(' and ')}: npm install ${missing.join(' ')}`)
  for (const name of packages) {
    try {
      require(name)
    } catch (cause) {
      // A native package without its binary: npm asks for leave to run install scripts.
      throw new Error(`fastify-users: ${usedBy} needs ${name}, which is installed but does not load: npm rebuild ${name}`, { cause })
    }
  }
  return require
}
