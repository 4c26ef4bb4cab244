import { median } from './median.mjs'

const shown = (value, digits) => Number.isNaN(value) ? '-' : value.toFixed(digits)
const rowOf = (cells) => `| ${cells.join(' | ')} |`
const rule = (numbers) => `|---|${'--:|'.repeat(numbers)}`

/** Throughput against a baseline: the median of the ratios of each round, since a disturbance affects a whole round. */
const ratio = (rounds, base) => median(rounds.map((round, i) => round.perSecond / (base[i]?.perSecond ?? NaN)))

const errorsOf = (rounds) => rounds.reduce((sum, round) => sum + round.errors, 0)

/**
 * The table of a case, in Markdown. `results` has the rounds of each server in order; none for a server that does not
 * support the case.
 */
export function tableOf (title, results, baselines) {
  const against = baselines.filter((name) => results.get(name)?.length > 0)
  const titles = against.map((name) => `× ${name}`)
  const head = [title, 'req/s', ...titles, 'p50 ms', 'p99 ms', 'node CPU µs', 'db CPU µs', 'errors']
  const lines = [...results].map(([name, rounds]) => {
    const cell = (member, digits) => shown(median(rounds.map((round) => round[member])), digits)
    return [
      name,
      cell('perSecond', 0),
      ...against.map((base) => shown(ratio(rounds, results.get(base)), 2)),
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
  const head = ['storage: case', 'ours, req/s', ...titles, 'node CPU µs', 'db CPU µs', 'errors']
  const lines = rows.map(({ storage, case: name, perSecond, ratios, nodeMicros, databaseMicros, errors }) => [
    `${storage}: ${name}`,
    cell(perSecond, 0),
    ...names.map((server) => cell(ratios[server], 2)),
    cell(nodeMicros, 0),
    cell(databaseMicros, 0),
    errors
  ])
  return [rowOf(head), rule(head.length - 1), ...lines.map(rowOf)].join('\n')
}
