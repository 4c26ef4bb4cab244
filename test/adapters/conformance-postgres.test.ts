// PostgreSQL passes the conformance kit, by itself and behind a pooler.
import { conform } from '../helpers/conform.ts'
import { pooled, stores } from '../helpers/stores.ts'

// Before the night with short lists: `conformance.test.ts` has the long ones.
conform(stores.filter(({ name }) => name === 'postgres'), { wholeFrom: 'nightly' })
// Only the way to the server differs.
conform([pooled], { from: 'ci', wholeFrom: 'nightly' })
