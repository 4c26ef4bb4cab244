import { distance } from 'fastest-levenshtein'

// Other programs have variables too. So only names that look like ours end the start: a typo, another form of a name
// without which data or security would be lost unnoticed, and a longer or shorter form of one. If the right name is set
// as well, nothing is lost. The log warns of names that may just as well be those of others.

/** Names that are not ours and look like it, with what to say of each. */
export interface Misspelt {
  /** Ends the start. */
  refused: string[]
  /** Is a warning in the log. */
  ignored: string[]
}

/** Other forms of the names of what the service must not silently do without. */
const VITAL: ReadonlyArray<readonly [form: RegExp, ours: string]> = [
  [/^DATABASE(?:_|$)/, 'DATABASE_URL'],
  [/^(?:FASTIFY_|USERS_)*PEPPERS?(?:_|$)/, 'FASTIFY_USERS_PEPPER'],
  [/^API_KEYS_/, 'API_KEYS'],
  // Without both files the service speaks plain HTTP.
  [/^TLS_(?:\w+_)?KEY(?:_|$)/, 'TLS_KEY_FILE'],
  [/^TLS_/, 'TLS_CERT_FILE'],
  [/^TRUST_PROXIES$/, 'TRUST_PROXY'],
  [/^TENANTS_ENABLED$/, 'TENANTS']
]

/** Is near one of ours, and OpenSSL's. */
const OPENSSL = 'SSL_CERT_FILE'

/** Names that look like ours, and that other programs have: schedulers set `PORT0` and `PORT_8080` for a container. */
const COMMON: ReadonlyArray<readonly [form: RegExp, ours: string]> = [
  [/^API_KEY$/, 'API_KEYS'],
  [/^PORT(?:\d+|_\w+)$/, 'PORT'],
  [/^TENANTS_/, 'TENANTS']
]

/** A word that our switch `<word>_ENABLED` begins with, such as `METRICS=true`, with a value of a switch. */
function isShortSwitch (name: string, value: string, names: readonly string[]): boolean {
  return names.includes(`${name}_ENABLED`) && /^(?:true|false|yes|no|on|off|0|1)$/i.test(value)
}

/** What Kubernetes sets for each service that a container can reach: `EVENT_LOG_SERVICE_HOST` for one `event-log`. */
function isOfKubernetes (name: string, value: string): boolean {
  return /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/.test(name) ||
    (name.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(value))
}

/** How many characters may differ for a name to look like one of ours. Short names resemble too much. */
function tolerance ({ length }: string): number {
  return length < 6 ? 0 : length < 9 ? 1 : 2
}

/** `FIRST_KEY` is a beginning of ours, and `RATE_LIMIT_MAX` begins with ours; one word alone may be anything. */
function isLonger (one: string, other: string): boolean {
  return other.includes('_') && one.startsWith(`${other}_`)
}

/** Looks for names that are not ours and look like it: `DATABSE_URL` would silently start on an empty database. */
export function misspelt (env: NodeJS.ProcessEnv, names: readonly string[]): Misspelt {
  const result: Misspelt = { refused: [], ignored: [] }
  const isSet = (name: string): boolean => env[name] !== undefined || env[`${name}_FILE`] !== undefined
  for (const [name, value = ''] of Object.entries(env)) {
    if (names.includes(name) || name === OPENSSL || isOfKubernetes(name, value)) continue
    const large = name.includes('_') ? name.toUpperCase() : name
    const said = (ours: string): string => `${name} is not a variable of this service: did you mean ${ours}?`
    const common = COMMON.find(([form]) => form.test(name))?.[1] ??
      (isShortSwitch(name, value, names) ? `${name}_ENABLED` : undefined)
    const vital = VITAL.find(([form]) => form.test(large))?.[1]
    if (common !== undefined && vital === undefined) {
      if (!isSet(common)) result.ignored.push(said(common))
      continue
    }
    const asFile = large.replace(/_PATH$/, '_FILE')
    const ours = names.find((each) => distance(large, each) <= tolerance(each)) ?? vital ??
      names.find((each) => each === asFile || isLonger(large, each) || isLonger(each, large))
    if (ours !== undefined) result[isSet(ours) ? 'ignored' : 'refused'].push(said(ours))
  }
  return result
}
