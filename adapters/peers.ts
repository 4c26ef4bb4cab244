import { createRequire } from 'node:module'

/**
 * A `require` for the optional peers of this package, once all of them are known to be installed.
 * @throws Error that names the missing ones and the command that installs them
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
  return require
}
