import { createRequire } from 'node:module'
import { dirname } from 'node:path'

// In a bundle packages are searched from the bundle's place. One in CommonJS has no import.meta.url.
const require = createRequire(import.meta.url ?? __filename)

/** The `require` of this package. */
export const packageRequire = require

/** Where packages are searched, if npm would install them elsewhere; null: it would not, or nobody knows. */
function elsewhere (): string | null {
  try {
    const root = dirname(require.resolve('fastify-users/package.json'))
    return /[\\/]node_modules[\\/]/.test(root) || root === process.cwd() ? null : root
  } catch {
    return null
  }
}

/** The command of npm for packages that this one loads, such as `npm install knex pg`. */
export function npmCommand (command: 'install' | 'rebuild', packages: string): string {
  // The service is installed in a directory of its own, and runs in that of its data.
  const root = elsewhere()
  return `npm ${command} ${root === null ? '' : `--prefix ${root} `}${packages}`
}

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
    throw new Error(`fastify-users: ${problem}: ${npmCommand('rebuild', name)}`, { cause })
  }
}

/**
 * A `require` for optional peer dependencies, after checking that each is installed and loads.
 * @throws Error that names the missing packages and the command that installs them, or the package that does not load
 */
export function requireOptional (usedBy: string, packages: readonly string[]): NodeJS.Require {
  const missing = packages.filter(isMissing)
  if (missing.length > 0) {
    const install = npmCommand('install', missing.join(' '))
    throw new Error(`fastify-users: ${usedBy} needs ${missing.join(' and ')}: ${install}`)
  }
  for (const name of packages) load(name, usedBy)
  return require
}
