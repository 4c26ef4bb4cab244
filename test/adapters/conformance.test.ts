// Memory and SQLite pass the conformance kit.
import { conform } from '../helpers/conform.ts'
import { stores } from '../helpers/stores.ts'

conform(stores.filter(({ name }) => name !== 'postgres'))
