import { median, uncertainty } from './median.mjs'

const percent = (share) => Number.isNaN(share) ? '-' : `${(share * 100).toFixed(1)} %`
const shown = (value, digits) => Number.isNaN(value) ? '-' : value.toFixed(digits)
const rowOf = (cells) => `| ${cells.join(' | ')} |`
const rule = (numbers) => `|---|${'--:|'.repeat(numbers)}`

/** Throughput against a baseline, by rounds: a disturbance affects a whole round. */
const ratios = (rounds, base) => rounds.map((round, i) => round.perSecond / (base[i]?.perSecond ?? NaN))

/** The median of the ratios of each round. */
const ratio = (rounds, base) => median(ratios(rounds, base))

/** How far that median may be off, as a share of it. */
export const ratioUncertainty = (rounds, base) => uncertainty(ratios(rounds, base))

const errorsOf = (rounds) => rounds.reduce((sum, round) => sum + round.errors, 0)

/**
 * The table of a case, in Markdown. `±`: how far the ratio to the first baseline may be off. `results` has the rounds
 * of each server in order; none for a server that does not support the case.
 */
export function tableOf (title, results, baselines) {
  const against = baselines.filter((name) => results.get(name)?.length > 0)
  const titles = against.map((name) => `× ${name}`)
  const head = [title, 'rounds', 'req/s', ...titles, '±', 'p50 ms', 'p99 ms', 'node CPU µs', 'db CPU µs', 'errors']
  const lines = [...results].map(([name, rounds]) => {
    const cell = (member, digits) => shown(median(rounds.map((round) => round[member])), digits)
    return [
      name,
      rounds.length,
      cell('perSecond', 0),
      ...against.map((base) => shown(ratio(rounds, results.get(base)), 2)),
      percent(ratioUncertainty(rounds, results.get(against[0]) ?? [])),
      cell('p50', 1),
      cell('p99', 1),
      cell('node', 0),
      cell('database', 0),
      rounds.length === 0 ? '-' : errorsOf(rounds)
    ]
  })
  return [rowOf(head), rule(head.length - 1), ...lines.map(rowOf)].join('\n')
}

/** A row for each case: our throughput, and its ratio to that of each of these servers; null if it was not measured. */
export function digestRows (cases, names) {
  const rounded = (value, digits) => Number.isNaN(value) ? null : Number(value.toFixed(digits))
  return cases.map(({ storage, name, results }) => {
    const own = results.get('ours') ?? []
    const of = (member) => rounded(median(own.map((round) => round[member])), 0)
    return {
      storage,
      case: name,
      perSecond: of('perSecond'),
      ratios: Object.fromEntries(names.map((server) => [server, rounded(ratio(own, results.get(server) ?? []), 2)])),
      uncertainty: rounded(ratioUncertainty(own, results.get(names[0]) ?? []), 3),
      p50: rounded(median(own.map((round) => round.p50)), 1),
      p99: rounded(median(own.map((round) => round.p99)), 1),
      nodeMicros: of('node'),
      databaseMicros: of('database'),
      errors: errorsOf([...results.values()].flat())
    }
  })
}

/** The table of all cases, in Markdown: a line for each row of `digestRows`. */
export function digestOf (rows, names) {
  const cell = (value, digits) => shown(value ?? NaN, digits)
  const titles = names.map((name) => `× ${name}`)
  const costs = ['p50 ms', 'p99 ms', 'node CPU µs', 'db CPU µs', 'errors']
  const head = ['storage: case', 'ours, req/s', ...titles, '±', ...costs]
  const lines = rows.map((row) => [
    `${row.storage}: ${row.case}`,
    cell(row.perSecond, 0),
    ...names.map((server) => cell(row.ratios[server], 2)),
    percent(row.uncertainty ?? NaN),
    cell(row.p50, 1),
    cell(row.p99, 1),
    cell(row.nodeMicros, 0),
    cell(row.databaseMicros, 0),
    row.errors
  ])
  return [rowOf(head), rule(head.length - 1), ...lines.map(rowOf)].join('\n')
}
