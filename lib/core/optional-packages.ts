import { createRequire } from 'node:module'

function isMissing (require: NodeJS.Require, name: string): boolean {
  try {
    require.resolve(name)
    return false
  } catch {
    return true
  }
}

/**
 * A `require` for optional peer dependencies, after checking that each is installed and loads.
 * @throws Error that names the missing packages and the command that installs them, or the package that does not load
 */
export function requireOptional (usedBy: string, packages: readonly string[]): NodeJS.Require {
  const require = createRequire(import.meta.url)
  const missing = packages.filter((name) => isMissing(require, name))
  if (missing.length > 0) {
    throw new Error(`fastify-users: ${usedBy} needs ${missing.join(' and ')}: npm install ${missing.join(' ')}`)
  }
  for (const name of packages) {
    try {
      require(name)
    } catch (cause) {
      // A native package without its binary: npm runs install scripts only with permission.
      const problem = `${usedBy} needs ${name}, which is installed but does not load`
      throw new Error(`fastify-users: ${problem}: npm rebuild ${name}`, { cause })
    }
  }
  return require
}
