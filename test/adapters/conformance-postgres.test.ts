// PostgreSQL passes the conformance kit, by itself and behind a pooler.
import { conform } from '../helpers/conform.ts'
import { pooled, stores } from '../helpers/stores.ts'

conform(stores.filter(({ name }) => name === 'postgres'))
// Only the way to the server differs.
conform([pooled], { from: 'ci', wholeFrom: 'nightly' })
