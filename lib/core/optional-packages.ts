import { createRequire } from 'node:module'

// In a bundle packages are searched from the bundle's place. One in CommonJS has no import.meta.url.
const require = createRequire(import.meta.url ?? __filename)

/** The `require` of this package. */
export const packageRequire = require

function isMissing (name: string): boolean {
  try {
    require.resolve(name)
    return false
  } catch {
    return true
  }
}

/** @throws Error that names the package, and the command that may help */
function load (name: string, usedBy: string): void {
  try {
    // Each by its name, since tools that copy the files that a program needs (Next's standalone output) see no others.
    switch (name) {
      case 'knex': require('knex'); break
      case 'pg': require('pg'); break
      case '@fastify/rate-limit': require('@fastify/rate-limit'); break
      case '@photostructure/sqlite': require('@photostructure/sqlite'); break
      default: require(name)
    }
  } catch (cause) {
    // A native package without its binary: npm runs install scripts only with permission.
    const problem = `${usedBy} needs ${name}, which is installed but does not load`
    throw new Error(`fastify-users: ${problem}: npm rebuild ${name}`, { cause })
  }
}

/**
 * A `require` for optional peer dependencies, after checking that each is installed and loads.
 * @throws Error that names the missing packages and the command that installs them, or the package that does not load
 */
export function requireOptional (usedBy: string, packages: readonly string[]): NodeJS.Require {
  const missing = packages.filter(isMissing)
  if (missing.length > 0) {
    throw new Error(`fastify-users: ${usedBy} needs ${missing.join(' and ')}: npm install ${missing.join(' ')}`)
  }
  for (const name of packages) load(name, usedBy)
  return require
}
