// Draws the plots of the documentation from the files in bench/results:
// node bench/plots.mjs [--results bench/results] [--out docs/public/plots]
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { plot } from './lib/plot.mjs'

const { values: given } = parseArgs({
  options: {
    results: { type: 'string', default: join(import.meta.dirname, 'results') },
    out: { type: 'string', default: join(import.meta.dirname, '..', 'docs', 'public', 'plots') }
  }
})

const STORAGES = { postgres: 'PostgreSQL', sqlite: 'SQLite', memory: 'memory' }
const SERVERS = [
  { key: 'L0', name: 'L0 bare route, constant answer' },
  { key: 'floor', name: 'floor of a storage' },
  { key: 'L1', name: 'L1 by hand' },
  { key: 'P1', name: 'P1 Fastify, Knex' },
  { key: 'P2', name: 'P2 Express, Knex' },
  { key: 'P3', name: 'P3 Feathers' },
  { key: 'P4', name: 'P4 Platformatic DB' },
  { key: 'P5', name: 'P5 better-auth' }
]
const CASES = {
  first: 'first page',
  middle: 'middle page',
  last: 'last page',
  random: 'page at random',
  after: 'page after an id',
  get: 'one user',
  email: 'user by address',
  q: 'search by beginning',
  patch: 'change a name',
  create: 'create'
}
const PAGES = [
  { key: 'first', name: 'first page' },
  { key: 'middle', name: 'middle page' },
  { key: 'last', name: 'last page' },
  { key: 'random', name: 'pages at random' }
]

const figure = (number) => number.toLocaleString('en')

/** The source of the figures: the commands that measured them, and the machine. */
function sourceOf (files) {
  const version = (node) => node === undefined ? '' : ` (Node.js ${node.replace('v', '')})`
  const runs = files.map(({ command, node }) => command + version(node))
  return `Source: ${runs.join('; ')}; ${files[0].machine}.`
}

/** fastify-users compared with the other servers on one storage: a row for each case. */
function againstOthers (storage, file) {
  const cases = file.cases.filter((row) => row.storage === storage)
  const measured = SERVERS.filter(({ key }) => cases.some(({ ratios }) => ratios[key] !== null))
  return plot({
    title: `fastify-users on ${STORAGES[storage]} against others`,
    about: 'Requests a second of fastify-users, divided by those of another server that does the same work, with ' +
      `${figure(file.size)} users and ${file.connections} connections. Right of 1, fastify-users is faster.`,
    rows: cases.map(({ case: name, ratios }) => ({ label: CASES[name], values: ratios })),
    series: measured,
    axis: { name: 'times the requests a second (logarithmic)', log: true, base: 1 },
    source: sourceOf([file])
  })
}

/** fastify-users compared with hand-written routes: a row for each number of users. */
function againstHand (files) {
  const sizes = files.toSorted((a, b) => a.size - b.size)
  const rows = []
  for (const storage of ['postgres', 'sqlite']) {
    rows.push({ label: STORAGES[storage] })
    for (const { size, cases } of sizes) {
      const pages = cases.filter((row) => row.storage === storage && PAGES.some(({ key }) => key === row.case))
      const values = Object.fromEntries(pages.map(({ case: name, ratios }) => [name, ratios.L1]))
      rows.push({ label: `${figure(size)} users`, values })
    }
  }
  return plot({
    title: 'fastify-users against routes by hand, by number of users',
    about: 'Requests a second for a page, divided by those of hand-written routes with count(*) and OFFSET (L1), ' +
      'whose cost grows with the table.',
    rows,
    series: PAGES,
    axis: { name: 'times the requests a second (logarithmic)', log: true, base: 1 },
    source: sourceOf(sizes)
  })
}

/** The cost of a page with many users, divided by that with few. */
function pageCost (files) {
  const rows = files.flatMap((file) => file.rows).filter(({ users, base }) => users !== base)
  const order = Object.keys(STORAGES)
  const sorted = rows.toSorted((a, b) => order.indexOf(a.storage) - order.indexOf(b.storage))
  const shown = []
  for (const { storage, users, tenthDeleted, pages } of sorted) {
    // Of smaller tables it says nothing new.
    if (tenthDeleted && rows.some((row) => row.storage === storage && row.users > users)) continue
    if (!shown.some(({ label }) => label === STORAGES[storage])) shown.push({ label: STORAGES[storage] })
    const values = Object.fromEntries(Object.entries(pages).map(([name, { ratio }]) => [name, ratio]))
    shown.push({ label: tenthDeleted ? 'a tenth of them deleted' : `${figure(users)} users`, values })
  }
  return plot({
    title: 'The cost of a page, by number of users',
    about: `Time of a page at the storage, divided by the time of the first page of ${figure(rows[0].base)} users.`,
    rows: shown,
    series: PAGES,
    axis: { name: 'times the first page of the small table', log: false, from: 0, base: 1 },
    source: sourceOf(files)
  })
}

/** What pages and creations of a tenant cost, divided by what they cost without tenants. */
function tenantCost (file) {
  const shown = []
  const order = Object.keys(STORAGES)
  for (const { storage, ratio } of file.creations.toSorted((a, b) =>
    order.indexOf(a.storage) - order.indexOf(b.storage))) {
    shown.push({ label: STORAGES[storage] })
    for (const { shape, pages } of file.pages.filter((row) => row.storage === storage)) {
      const dearest = (name) => Math.max(pages[`${name} asc`].ratio, pages[`${name} desc`].ratio)
      shown.push({ label: shape, values: Object.fromEntries(PAGES.map(({ key }) => [key, dearest(key)])) })
    }
    shown.push({ label: '100 tenants', values: { create: Number((1 / ratio).toFixed(2)) } })
  }
  return plot({
    title: 'What a tenant costs, against a table without tenants',
    about: 'Time of a page of a tenant at the storage, divided by that of the same page of a table without tenants ' +
      'that has as many users, in the dearer order; and time of a creation in process, 32 at once.',
    rows: shown,
    series: [...PAGES, { key: 'create', name: 'creation' }],
    axis: { name: 'times as long as without tenants', log: false, from: 0, base: 1 },
    source: sourceOf([file])
  })
}

const SEARCHES = [
  { key: 'ours', name: 'fastify-users', of: (name) => name },
  { key: 'index', name: 'by hand, the same index', of: (name) => `by hand, the same index: ${name}` },
  { key: 'like', name: "by hand, LIKE '%word%'", of: (name) => `by hand, LIKE: ${name}` }
]

/** The time of a search with its total, beside the same by hand. */
function searchCost (files) {
  const shown = []
  for (const file of files) {
    for (const storage of new Set(file.searches.map((row) => row.storage))) {
      const msOf = (name) => file.searches.find((row) => row.storage === storage && row.name === name)?.ms ?? null
      shown.push({ label: STORAGES[storage] })
      for (const label of ['a word of one user', 'a word of a tenth']) {
        shown.push({ label, values: Object.fromEntries(SEARCHES.map(({ key, of }) => [key, msOf(of(label))])) })
      }
    }
  }
  return plot({
    title: `A search among ${figure(files[0].users)} users`,
    about: 'Milliseconds of the first page of a search and its exact total, at the storage, one client.',
    rows: shown,
    series: SEARCHES,
    axis: { name: 'milliseconds (logarithmic)', log: true },
    source: sourceOf(files)
  })
}

const files = []
for (const name of (await readdir(given.results)).sort()) {
  if (name.endsWith('.json')) files.push(JSON.parse(await readFile(join(given.results, name), 'utf8')))
}
const http = files.filter(({ kind }) => kind === 'http')
const compared = http.find(({ cases }) => cases.some(({ ratios }) => typeof ratios.P1 === 'number'))

await mkdir(given.out, { recursive: true })
const plots = {
  'postgres.svg': againstOthers('postgres', compared),
  'sqlite.svg': againstOthers('sqlite', compared),
  'by-hand.svg': againstHand(http),
  'pages.svg': pageCost(files.filter(({ kind }) => kind === 'pages')),
  'tenants.svg': tenantCost(files.find(({ kind }) => kind === 'tenants')),
  'search.svg': searchCost(files.filter(({ kind }) => kind === 'search'))
}
for (const [name, svg] of Object.entries(plots)) {
  await writeFile(join(given.out, name), svg)
  console.log(join(given.out, name))
}
