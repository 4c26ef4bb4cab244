import { distance } from 'fastest-levenshtein'

// Other programs have variables too. So only names that look like ours end the start: a typo, another form of a name
// without which data or security would be lost unnoticed, and a longer or shorter form of one. If the right name is set
// as well, nothing is lost.

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
  [/^TLS_CERT$/, 'TLS_CERT_FILE'],
  [/^TLS_KEY$/, 'TLS_KEY_FILE'],
  [/^TRUST_PROXIES$/, 'TRUST_PROXY']
]

/** Names near ours that are those of others: the first is OpenSSL's, and many programs have the second. */
const [OPENSSL, ONE_KEY] = ['SSL_CERT_FILE', 'API_KEY']

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
    const near = names.find((ours) => distance(large, ours) <= tolerance(ours)) ??
      VITAL.find(([form]) => form.test(large))?.[1]
    const ours = near ?? names.find((each) => isLonger(large, each) || isLonger(each, large))
    if (ours === undefined) continue
    const isRefused = !isSet(ours) && name !== ONE_KEY
    result[isRefused ? 'refused' : 'ignored'].push(`${name} is not a variable of this service: did you mean ${ours}?`)
  }
  return result
}
