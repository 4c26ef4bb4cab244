import { ConfigError, readConfig } from '../../examples/standalone/config.ts'

/** What the standalone service says of an environment, a line each. */
export function problemsOf (env: Record<string, string>): string[] {
  try {
    readConfig(env)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.message.split('\n').slice(1).map((line) => line.trim())
  }
}
