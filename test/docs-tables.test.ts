// The tables of the docs have what the code declares. UPDATE=1 npm test -- test/docs-tables.test.ts writes them.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { errorCodes, markedOptions, optionNames, optionRows, withOptionTables } from './helpers/docs/tables.ts'

const page = (name: string) => join(import.meta.dirname, '..', 'docs', name)

test('docs/options.md has the description and the default of each option', async (t) => {
  const [before, rows] = [await readFile(page('options.md'), 'utf8'), await optionRows()]
  t.strictSame([...rows.keys()].sort(), [...optionNames].sort(), 'each option has a docstring')
  t.strictSame(markedOptions(before).sort(), [...optionNames].sort(), 'each option is in one table')
  const after = withOptionTables(before, rows)
  if (process.env['UPDATE'] === '1') await writeFile(page('options.md'), after)
  else t.equal(before, after)
})

test('docs/errors.md lists each code with its status, in the order of the table', async (t) => {
  const text = await readFile(page('errors.md'), 'utf8')
  const rows = [...text.matchAll(/^\| \[?`(\w+)`.*?\| (\d{3}) \|/gm)]
  const listed = rows.map(([, code, status]) => ({ code, status: Number(status) }))
  t.strictSame(listed, errorCodes)
  for (const { code } of errorCodes) t.match(text, `### ${code}\n`, `${code} has a section`)
})
