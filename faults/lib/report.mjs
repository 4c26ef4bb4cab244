const COLUMNS = [
  ['acknowledged', ({ acknowledged }) => acknowledged],
  ['lost', ({ lost }) => lost],
  ['twice', ({ twice }) => twice],
  ['phantom', ({ phantom }) => phantom],
  ['versions', ({ versions }) => versions],
  ['counts', ({ counts }) => counts],
  ['answers', ({ answers }) => answers],
  ['unhandled', ({ unhandled }) => unhandled],
  ['unknown', ({ unknown }) => unknown],
  ['slowest', ({ slowest }) => `${slowest} ms`],
  ['recovery', ({ recovery }) =>
    recovery.length === 0 ? '–' : `${Math.round(Math.max(...recovery.map((ms) => ms ?? Infinity)))} ms`],
  ['memory', ({ memory }) => `${memory >= 0 ? '+' : ''}${memory} MB`]
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
