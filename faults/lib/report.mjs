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

const sum = (runs, name) => runs.reduce((total, { figures }) => total + figures[name], 0)
const number = (value) => value === 0 ? '–' : Math.round(value).toLocaleString('en')
const slowestOf = (runs) => Math.max(...runs.map(({ figures }) => figures.slowest))
const recoveryOf = (runs) => Math.max(0, ...runs.flatMap(({ figures }) => figures.recovery.map((ms) => ms ?? Infinity)))

/** The runs of each fault that were not skipped. */
function byFault (results) {
  const groups = new Map()
  for (const result of results.filter(({ figures }) => figures !== null)) {
    groups.set(result.fault, [...groups.get(result.fault) ?? [], result])
  }
  return [...groups]
}

/** A row for each fault with its worst figures, and one for each control, as Markdown. What passed has zeros else. */
function summary (results) {
  const row = (cells) => `| ${cells.join(' | ')} |`
  const on = (runs) => runs.map(({ setup }) => setup.name).join(', ')
  const faults = byFault(results)
  const passed = faults.filter(([fault]) => fault.mustFail === undefined).map(([{ name, what }, runs]) => row([
    `**${name}**: ${what}`, on(runs), number(sum(runs, 'acknowledged')), number(slowestOf(runs)),
    number(recoveryOf(runs))
  ]))
  const broken = faults.filter(([fault]) => fault.mustFail !== undefined)
  const controls = broken.map(([{ name, what, mustFail }, runs]) => row([
    `**${name}**: ${what}`, on(runs), number(sum(runs, 'acknowledged')),
    mustFail.map((figure) => `${figure} ${number(sum(runs, figure))}`).join(', ')
  ]))
  return [
    ['| Fault | On | Acknowledged | Slowest answer, ms | Recovery, ms |', '|---|---|--:|--:|--:|', ...passed],
    ['| Control: what is taken away | On | Acknowledged | What it breaks |', '|---|---|--:|---|', ...controls]
  ].map((lines) => lines.join('\n')).join('\n\n')
}

/** Puts the tables of a run into docs/reliability.md. A run in which something failed changes nothing. */
export async function writePage (results, { seed, seconds }) {
  if (results.some(({ verdict }) => !['passed', 'skipped'].includes(verdict))) return
  const [{ model }] = cpus()
  const machine = `${cpus().length} cores (${model.trim()}), ${type()}, Node.js ${process.version}`
  const text = await readFile(PAGE, 'utf8')
  const date = new Date().toISOString().slice(0, 10)
  const run = `${date}, ${machine}; \`npm run test:faults -- --seed ${seed}\`, ${Math.round(seconds / 60)} minutes. ` +
    'What was skipped was not to be had on this machine.\n\n' +
    'Every run in this table passed: `lost`, `twice`, `phantom`, `versions`, `counts`, `answers`, `events` and ' +
    '`unhandled` were 0, apart from the deaths in `heap too small`. Acknowledged writes are summed over the stores; ' +
    'the slowest answer and the recovery are the worst of them.'
  const parts = [run, summary(results)].join('\n\n')
  const between = /(<!-- faults: begin -->\n)[\s\S]*(<!-- faults: end -->)/
  await writeFile(PAGE, text.replace(between, (_, begin, end) => `${begin}\n${parts}\n\n${end}`))
}
