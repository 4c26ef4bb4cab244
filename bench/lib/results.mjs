import { writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { MACHINE } from './machine.mjs'

/** The command that runs this process, as a user types it in the repository. */
function commandOf ([, script, ...given]) {
  // The file of the results does not matter for them.
  const options = given.filter((word, i) => !word.startsWith('--json') && given[i - 1] !== '--json')
  const name = basename(script)
  const start = name === 'run.mjs' ? ['npm run bench', ...(options.length > 0 ? ['--'] : [])] : [`node bench/${name}`]
  return [...start, ...options].join(' ')
}

/** Results as JSON, with each row of a table on its own line. */
function textOf (results) {
  const members = Object.entries(results).map(([name, value]) => {
    const lines = Array.isArray(value) ? value.map((row) => `\n    ${JSON.stringify(row)}`) : null
    return `  "${name}": ${lines === null ? JSON.stringify(value) : `[${lines.join(',')}\n  ]`}`
  })
  return `{\n${members.join(',\n')}\n}\n`
}

/** Writes results to a file for `plots.mjs`, with the command, the version of Node.js and the machine. */
export async function saveResults (file, { kind, ...results }) {
  const source = { command: commandOf(process.argv), node: process.version, machine: MACHINE }
  await writeFile(file, textOf({ kind, ...source, ...results }))
}
