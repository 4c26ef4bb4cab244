// Names that look like variables of the standalone service.
import { test } from 'tap'
import { ignoredVariables } from '../../examples/standalone/config.ts'
import { problemsOf } from '../helpers/service-config.ts'

const SECRET = 's'.repeat(32)

const saidOf = (name: string, ours: string) => [`${name} is not a variable of this service: did you mean ${ours}?`]

test('refuses what looks like a variable of its own', async (t) => {
  for (const [name, ours] of [
    ['DATABSE_URL', 'DATABASE_URL'], ['DATABASE_UR', 'DATABASE_URL'], ['API_KEYZ', 'API_KEYS'],
    ['RATE_LIMITS', 'RATE_LIMIT'], ['WEBHOOKS_NETWORKS', 'WEBHOOK_NETWORKS'], ['LOG_LEVL', 'LOG_LEVEL'],
    ['FASTIFY_USER_PEPPER', 'FASTIFY_USERS_PEPPER'], ['DATABASE_URL_FIL', 'DATABASE_URL_FILE'],
    ['database_url', 'DATABASE_URL'], ['TLS_CERT', 'TLS_CERT_FILE'], ['TLS_KEY', 'TLS_KEY_FILE'],
    ['TRUST_PROXIES', 'TRUST_PROXY'], ['DATABASE', 'DATABASE_URL'], ['DATABASE_HOST', 'DATABASE_URL'],
    ['DATABASE_PORT', 'DATABASE_URL'], ['PEPPER', 'FASTIFY_USERS_PEPPER'], ['USERS_PEPPER', 'FASTIFY_USERS_PEPPER'],
    ['API_KEYS_PATH', 'API_KEYS'], ['KEY_CACHE_DIR', 'KEY_CACHE'], ['RATE_LIMIT_MAX', 'RATE_LIMIT'],
    ['FIRST_KEY', 'FIRST_KEY_FILE'], ['EVENT_LOG_PORT', 'EVENT_LOG'], ['TENANT', 'TENANTS'],
    ['ADMIN_LOGO', 'ADMIN_LOGO_FILE'], ['TLS_CERT_PATH', 'TLS_CERT_FILE'], ['TLS_KEY_PATH', 'TLS_KEY_FILE'],
    ['TLS_PRIVATE_KEY', 'TLS_KEY_FILE'], ['TLS_ENABLED', 'TLS_CERT_FILE'], ['tls_crt', 'TLS_CERT_FILE'],
    ['FIRST_KEY_PATH', 'FIRST_KEY_FILE'], ['ADMIN_LOGO_PATH', 'ADMIN_LOGO_FILE'], ['TENANTS_ENABLED', 'TENANTS']
  ] as const) {
    t.strictSame(problemsOf({ [name]: 'postgres://secret@host/db' }), saidOf(name, ours))
    t.strictSame(ignoredVariables({ [name]: 'postgres://secret@host/db' }), [])
  }
})

test('takes variables of other programs for what they are', async (t) => {
  for (const [name, value, ours, right] of [
    ['API_KEY', SECRET, 'API_KEYS', SECRET], ['PORT2', '5', 'PORT', '3000'], ['PORT_NUMBER', '80', 'PORT', '3000'],
    ['TENANTS_TABLE', 'tenants', 'TENANTS', 'true'], ['METRICS', 'true', 'METRICS_ENABLED', 'true'],
    ['WEBHOOKS', 'true', 'WEBHOOKS_ENABLED', 'true'], ['SCIM', '1', 'SCIM_ENABLED', 'true'],
    ['GROUPS', 'on', 'GROUPS_ENABLED', 'true']
  ] as const) {
    t.strictSame(problemsOf({ [name]: value }), [], name)
    t.strictSame(ignoredVariables({ [name]: value }), saidOf(name, ours))
    t.strictSame(ignoredVariables({ [name]: value, [ours]: right }), [], `${name} beside ${ours}`)
  }
  for (const [name, ours] of [
    ['DATABASE_HOST', 'DATABASE_URL'], ['DATABASE_URI', 'DATABASE_URL'], ['PEPPER', 'FASTIFY_USERS_PEPPER'],
    ['KEY_CACHE_DIR', 'KEY_CACHE'], ['TLS_CA_FILE', 'TLS_CERT_FILE']
  ] as const) {
    const env = {
      [name]: 'secret',
      DATABASE_URL: 'memory:',
      FASTIFY_USERS_PEPPER: SECRET,
      KEY_CACHE: '5',
      TLS_CERT_FILE: 'cert.pem',
      TLS_KEY_FILE: 'key.pem'
    }
    t.strictSame(problemsOf(env), [], `${name} beside ${ours}`)
    t.strictSame(ignoredVariables(env), saidOf(name, ours))
  }
  const services = ['EVENT_LOG', 'RATE_LIMIT', 'DATABASE', 'API_KEY', 'PEPPER', 'TLS', 'USERS', 'PORT']
  const kubernetes = services.flatMap((service) => [
    [`${service}_PORT`, 'tcp://10.0.0.11:80'], [`${service}_SERVICE_HOST`, '10.0.0.11'],
    [`${service}_SERVICE_PORT`, '80'], [`${service}_SERVICE_PORT_HTTP`, '80'],
    [`${service}_PORT_80_TCP`, 'tcp://10.0.0.11:80'],
    [`${service}_PORT_80_TCP_PROTO`, 'tcp'], [`${service}_PORT_80_TCP_PORT`, '80'],
    [`${service}_PORT_80_TCP_ADDR`, '10.0.0.11']
  ])
  const others = [
    'HOSTNAME', 'PORTS', 'HOSTS', 'PATH', 'HOME', 'NODE_ENV', 'USERS_PORT', 'SUFFIX', 'POST', 'host', 'API',
    'FASTIFY_USERS_PORT', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'PREFIX', 'UNIQUE', 'METRICS', 'WEBHOOKS',
    'SHOP_PEPPER', 'HOST_IP', 'PORTAL', 'LOG', 'KEY', 'NODE_TLS_REJECT_UNAUTHORIZED'
  ].map((name) => [name, '/usr/local'])
  for (const [name = '', value = ''] of [...kubernetes, ...others]) {
    t.strictSame([problemsOf({ [name]: value }), ignoredVariables({ [name]: value })], [[], []], name)
  }
})
