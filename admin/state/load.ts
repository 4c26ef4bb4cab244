import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { useSession } from './session.ts'

/** What was loaded last, and what goes on. */
export interface Loaded<Value> {
  /** Stays while the next one is loaded. */
  value: Value | null
  error: unknown
  isLoading: boolean
  reload: () => void
}

/**
 * Loads a value, and again when `key` changes. The load before is aborted, so that the last one wins whatever the order
 * of answers. After signing in again, what had failed is loaded once more.
 */
export function useLoad<Value> (key: string, load: (signal: AbortSignal) => Promise<Value>): Loaded<Value> {
  const { version } = useSession()
  const [state, setState] = useState<Omit<Loaded<Value>, 'reload'>>({ value: null, error: null, isLoading: true })
  const [round, setRound] = useState(0)
  const latest = useRef(load)
  latest.current = load
  const hasFailed = useRef(false)
  const attempt = useRef(version)
  if (hasFailed.current) attempt.current = version

  useEffect(() => {
    const controller = new AbortController()
    hasFailed.current = false
    setState((state) => ({ ...state, isLoading: true }))
    latest.current(controller.signal).then((value) => {
      if (!controller.signal.aborted) setState({ value, error: null, isLoading: false })
    }, (error: unknown) => {
      if (controller.signal.aborted) return
      hasFailed.current = true
      setState((state) => ({ ...state, error, isLoading: false }))
    })
    return () => controller.abort()
  }, [key, round, attempt.current])

  return { ...state, reload: useCallback(() => setRound((round) => round + 1), []) }
}
