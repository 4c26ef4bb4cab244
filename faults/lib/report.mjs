import { readFile, writeFile } from 'node:fs/promises'
import { cpus, type } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './service.mjs'

const PAGE = join(ROOT, 'docs', 'reliability.md')
const COLUMNS = [
  ['acknowledged', ({ acknowledged }) => acknowledged],
  ['lost', ({ lost }) => lost],
  ['twice', ({ twice }) => twice],
  ['phantom', ({ phantom }) => phantom],
  ['versions', ({ versions }) => versions],
  ['counts', ({ counts }) => counts],
  ['answers', ({ answers }) => answers],
  ['events', ({ events = '–' }) => events],
  ['unhandled', ({ unhandled }) => unhandled],
  ['unknown', ({ unknown }) => unknown],
  ['slowest', ({ slowest }) => `${slowest} ms`],
  ['recovery', ({ recovery }) =>
    recovery.length === 0 ? '–' : `${Math.round(Math.max(...recovery.map((ms) => ms ?? Infinity)))} ms`],
  ['memory', ({ memory }) => `${memory >= 0 ? '+' : ''}${memory} MB`],
  ['files', ({ files = 0 }) => `${files >= 0 ? '+' : ''}${files}`]
]

const notesOf = ({ notes = {} }) =>
  Object.entries(notes).map(([name, value]) => `${name} ${JSON.stringify(value)}`).join(', ')

const verdictOf = ({ fault, verdict }) =>
  verdict === 'passed' && fault.mustFail !== undefined ? 'failed, as it must' : verdict

/** One line for a run, with what is wrong below it. */
export function line (result) {
  const { fault, setup, seed, figures, problems, verdict, seconds } = result
  const shown = figures === null
    ? ''
    : COLUMNS.map(([name, value]) => `${name} ${value(figures)}`).join(', ') + ` ${notesOf(figures)}`
  const below = verdict === 'passed' ? '' : problems.map((problem) => `\n    ${problem}`).join('')
  return `${verdictOf(result)}: ${fault.name} on ${setup.name} (seed ${seed}, ${seconds} s) ${shown}${below}`
}

/** The table of all runs, as Markdown. */
export function table (results) {
  const head = ['fault', 'on', ...COLUMNS.map(([name]) => name), 'also', 'result']
  const rows = results.map((result) => {
    const { fault, setup, figures, problems, verdict } = result
    const cells = figures === null
      ? [...COLUMNS.map(() => ''), verdict === 'skipped' ? problems[0] : '']
      : [...COLUMNS.map(([, value]) => value(figures)), notesOf(figures)]
    return [fault.name, setup.name, ...cells, verdictOf(result)]
  })
  const lines = [head, head.map((_, i) => i < 2 || i > COLUMNS.length + 1 ? '---' : '--:'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** What each fault is, as Markdown. */
function descriptions (results) {
  const all = new Map(results.map(({ fault: { name, what } }) => [name, what]))
  return ['| Fault | What happens |', '|---|---|', ...[...all].map((cells) => `| ${cells.join(' | ')} |`)].join('\n')
}

/** Puts the tables of a run into docs/reliability.md. */
export async function writePage (results, { seed, seconds }) {
  const [{ model }] = cpus()
  const machine = `${cpus().length} cores (${model.trim()}), ${type()}, Node.js ${process.version}`
  const text = await readFile(PAGE, 'utf8')
  const date = new Date().toISOString().slice(0, 10)
  const run = `${date}, ${machine}; \`npm run test:faults -- --seed ${seed}\`, ${Math.round(seconds / 60)} minutes. ` +
    'What was skipped was not to be had on this machine.'
  const parts = [run, descriptions(results), table(results)].join('\n\n')
  const between = /(<!-- faults: begin -->\n)[\s\S]*(<!-- faults: end -->)/
  await writeFile(PAGE, text.replace(between, (_, begin, end) => `${begin}\n${parts}\n\n${end}`))
}
