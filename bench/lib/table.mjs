import { median } from './median.mjs'

const shown = (value, digits) => Number.isNaN(value) ? '-' : value.toFixed(digits)

/** Throughput against a baseline: the median of each round's own ratio, because what disturbs a round disturbs both. */
const ratio = (rounds, base) => median(rounds.map((round, i) => round.perSecond / (base[i]?.perSecond ?? NaN)))

/** One table of Markdown for a case: `results` are the loads of each server, a round after the other, none where it cannot do the case. */
export function tableOf (title, results, baselines) {
  const names = [...results.keys()]
  const against = baselines.filter((name) => results.get(name)?.length > 0)
  const lines = [
    `| ${title} | req/s | ${against.map((name) => `× ${name} | `).join('')}p50 ms | p99 ms | node CPU µs | db CPU µs | errors |`,
    `|---|${'--:|'.repeat(6 + against.length)}`
  ]
  for (const name of names) {
    const rounds = results.get(name)
    const of = (member) => median(rounds.map((round) => round[member]))
    const ratios = against.map((base) => shown(ratio(rounds, results.get(base)), 2))
    const errors = rounds.length === 0 ? '-' : rounds.reduce((sum, round) => sum + round.errors, 0)
    lines.push(`| ${name} | ${shown(of('perSecond'), 0)} | ${ratios.map((ratio) => `${ratio} | `).join('')}${shown(of('p50'), 1)} | ${shown(of('p99'), 1)} | ${shown(of('node'), 0)} | ${shown(of('database'), 0)} | ${errors} |`)
  }
  return lines.join('\n')
}

/** One table of Markdown for everything: a line for each case, ours against each of these servers; `cases` are titles with the results of `tableOf`. */
export function digestOf (cases, names) {
  const lines = [
    `| storage: case | ours, req/s | ${names.map((name) => `× ${name} | `).join('')}node CPU µs | db CPU µs | errors |`,
    `|---|${'--:|'.repeat(names.length + 4)}`
  ]
  for (const { title, results } of cases) {
    const of = (name, member) => median((results.get(name) ?? []).map((round) => round[member]))
    const ratios = names.map((name) => shown(ratio(results.get('ours') ?? [], results.get(name) ?? []), 2))
    const errors = [...results.values()].flat().reduce((sum, round) => sum + round.errors, 0)
    lines.push(`| ${title} | ${shown(of('ours', 'perSecond'), 0)} | ${ratios.map((ratio) => `${ratio} | `).join('')}${shown(of('ours', 'node'), 0)} | ${shown(of('ours', 'database'), 0)} | ${errors} |`)
  }
  return lines.join('\n')
}
