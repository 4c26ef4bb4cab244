import { useEffect, useRef } from 'preact/hooks'

// What the palette asks a view to do. A view that is not there yet does it once it is.

export type Command = 'import' | 'csv' | 'ndjson' | 'search' | 'key'

let asked: { command: Command, at: number } | null = null
const EVENT = 'fastify-users:command'
/** What could not be done until then is forgotten: by now it would surprise. */
const PATIENCE_MS = 10_000

export function ask (command: Command): void {
  asked = { command, at: Date.now() }
  window.dispatchEvent(new Event(EVENT))
}

/** Calls `action` when the command is asked for, as soon as it can be done. */
export function useCommand (command: Command, canRun: boolean, action: () => void): void {
  const latest = useRef(action)
  latest.current = action
  useEffect(() => {
    const run = (): void => {
      if (asked?.command !== command || !canRun) return
      const isLate = Date.now() - asked.at > PATIENCE_MS
      asked = null
      if (!isLate) latest.current()
    }
    run()
    window.addEventListener(EVENT, run)
    return () => window.removeEventListener(EVENT, run)
  }, [command, canRun])
}
