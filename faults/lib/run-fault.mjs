import { openScene } from './scene.mjs'

const SLOWEST_MS = 6500
const RECOVERY_MS = 2000
const MEMORY_MB = 200
// Connections of the pool, and what a driver opens. Those of clients, which may still be closing, come on top.
const FILES = 40
const ZERO = ['lost', 'twice', 'phantom', 'versions', 'counts', 'answers', 'events', 'unhandled']

/** What is wrong with the figures of a run. */
function problemsIn (fault, scene, figures, patience) {
  const { mayDie = false, verify = () => [] } = fault
  const [slowest, recovery] = [fault.slowest ?? SLOWEST_MS, fault.recovery ?? RECOVERY_MS].map((ms) => patience * ms)
  const kinds = mayDie ? ZERO.filter((kind) => kind !== 'unhandled') : ZERO
  const late = figures.recovery.filter((ms) => ms === null || ms > recovery)
  return [
    ...kinds.filter((kind) => figures[kind] > 0).map((kind) => `${kind} ${figures[kind]}`),
    ...figures.reasons,
    ...(figures.slowest > slowest ? [`an answer took ${figures.slowest} ms`] : []),
    ...(late.length > 0 ? [`no success within ${recovery} ms: ${late.map((ms) => Math.round(ms ?? -1))}`] : []),
    ...(figures.memory > MEMORY_MB ? [`${figures.memory} MB more memory`] : []),
    ...(figures.files > FILES + scene.clients ? [`${figures.files} more open files and connections`] : []),
    ...verify(scene, figures)
  ]
}

/**
 * Runs a fault on a setup. A control must fail, in the kinds that it names: a suite that can't fail proves nothing.
 */
export async function runFault (fault, setup, { seed, quick }) {
  const begun = performance.now()
  const result = { fault, setup, seed, figures: null, problems: [], verdict: 'passed' }
  const skip = setup.skip ?? await fault.skip?.() ?? null
  if (skip !== null) return { ...result, verdict: 'skipped', problems: [skip], seconds: 0 }
  let scene
  try {
    if (fault.alone !== undefined) {
      const { figures, problems } = await fault.alone({ setup, seed, quick })
      Object.assign(result, { figures, problems })
    } else {
      scene = await openScene(fault, setup, seed, quick)
      result.figures = await scene.figures(await scene.run())
      result.problems = problemsIn(fault, scene, result.figures, quick ? 4 : 1)
      if (result.problems.length > 0) result.problems.push(...scene.diagnosis())
    }
    if (fault.mustFail !== undefined) {
      const missed = fault.mustFail.filter((kind) => result.figures[kind] === 0)
      result.problems = missed.map((kind) => `this control must show ${kind}, and does not`)
    }
  } catch (error) {
    result.problems = [error.stack ?? String(error), ...(scene?.diagnosis() ?? [])]
  } finally {
    await scene?.close()
  }
  result.verdict = result.problems.length === 0 ? 'passed' : 'failed'
  result.seconds = Math.round((performance.now() - begun) / 1000)
  return result
}
