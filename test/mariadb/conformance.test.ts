// MariaDB passes the conformance kit.
import { conform } from '../helpers/conform.ts'
import { from } from '../helpers/level.ts'
import { inMariadb } from '../helpers/mariadb.ts'

conform([{ ...inMariadb, skip: from('ci') || inMariadb.skip }], { wholeFrom: 'nightly' })
