// Simulates mounts on the workers of a cluster: how many users each has when mounts are given out in turn, and what
// moving a few of them gains. Sizes follow Zipf's law: the nth largest has a part of 1/n. Prints a table:
// node bench/tenant-spread.mjs --mounts 1000 --users 100000000 --bytes 400 --workers 2,4,8
import { parseArgs } from 'node:util'

const { values: given } = parseArgs({
  options: {
    mounts: { type: 'string', default: '1000' },
    users: { type: 'string', default: '100000000' },
    bytes: { type: 'string', default: '400' },
    workers: { type: 'string', default: '2,4,8' },
    // The largest part by which a worker may be above the average.
    slack: { type: 'string', default: '0.1' }
  }
})
const [mounts, users, bytes, slack] = [given.mounts, given.users, given.bytes, given.slack].map(Number)

const parts = Array.from({ length: mounts }, (_, i) => 1 / (i + 1))
const all = parts.reduce((sum, part) => sum + part, 0)
const sizes = parts.map((part) => Math.round(users * part / all))
const gigabytes = (count) => (count * bytes / 1e9).toFixed(1)
const millions = (count) => (count / 1e6).toFixed(1)

/** Mounts are made in an order that has nothing to do with their later sizes: this one is always the same. */
function inTurn (workers) {
  let seed = 1
  const order = sizes.map((size) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return { size, key: seed }
  }).sort((a, b) => a.key - b.key)
  return Array.from({ length: workers }, (_, worker) => order.filter((_, i) => i % workers === worker)
    .map(({ size }) => size))
}

const sum = (list) => list.reduce((total, size) => total + size, 0)

/** Moves a mount from the fullest worker to the emptiest until that gains nothing. Returns what was moved. */
function rebalance (workers) {
  const average = users / workers.length
  const moved = []
  while (true) {
    const [emptiest, ...others] = workers.toSorted((a, b) => sum(a) - sum(b))
    const fullest = others.at(-1) ?? emptiest
    const excess = sum(fullest) - average
    if (excess <= slack * average) return moved
    // The largest that brings both closer to the average.
    const [best] = fullest.filter((size) => size <= Math.min(excess, average - sum(emptiest))).sort((a, b) => b - a)
    if (best === undefined) return moved
    fullest.splice(fullest.indexOf(best), 1)
    emptiest.push(best)
    moved.push(best)
  }
}

const ofTen = Math.round(100 * sum(sizes.slice(0, 10)) / users)
process.stdout.write(`largest mount: ${millions(sizes[0])} million users, ${gigabytes(sizes[0])} GB; ` +
  `the ten largest: ${ofTen} % of all; median: ${sizes[mounts >> 1]} users\n\n` +
  '| workers | fullest, in turn | moves | moved | fullest afterwards | average |\n|--:|--:|--:|--:|--:|--:|\n')
for (const count of given.workers.split(',').map(Number)) {
  const workers = inTurn(count)
  const before = Math.max(...workers.map(sum))
  const moved = rebalance(workers)
  const after = Math.max(...workers.map(sum))
  process.stdout.write(`| ${count} | ${millions(before)} | ${moved.length} | ${gigabytes(sum(moved))} GB | ` +
    `${millions(after)} | ${millions(users / count)} |\n`)
}
