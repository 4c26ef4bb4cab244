import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { useSession } from './session.ts'

/** What was loaded last, and what goes on. */
export interface Loaded<Value> {
  /** Stays while the next one is loaded, and is gone if that fails: it is no answer to what was asked. */
  value: Value | null
  /** True if `value` answers what was asked before. */
  isStale: boolean
  error: unknown
  isLoading: boolean
  reload: () => void
}

interface State<Value> extends Pick<Loaded<Value>, 'value' | 'error' | 'isLoading'> {
  /** What `value` answers. */
  key: string | null
}

/**
 * Loads a value, and again when `key` changes. The load before is aborted, so that the last one wins whatever the order
 * of answers. After signing in again, what had failed is loaded once more.
 */
export function useLoad<Value> (key: string, load: (signal: AbortSignal) => Promise<Value>): Loaded<Value> {
  const { version } = useSession()
  const [state, setState] = useState<State<Value>>({ key: null, value: null, error: null, isLoading: true })
  const [round, setRound] = useState(0)
  const latest = useRef(load)
  latest.current = load
  const hasFailed = useRef(false)
  const attempt = useRef(version)
  if (hasFailed.current) attempt.current = version

  useEffect(() => {
    const controller = new AbortController()
    hasFailed.current = false
    setState((state) => ({ ...state, error: state.key === key ? state.error : null, isLoading: true }))
    latest.current(controller.signal).then((value) => {
      if (!controller.signal.aborted) setState({ key, value, error: null, isLoading: false })
    }, (error: unknown) => {
      if (controller.signal.aborted) return
      hasFailed.current = true
      setState((state) => ({ ...state, value: state.key === key ? state.value : null, error, isLoading: false }))
    })
    return () => controller.abort()
  }, [key, round, attempt.current])

  const { value, error, isLoading } = state
  return {
    value,
    error,
    isLoading,
    isStale: state.key !== key,
    reload: useCallback(() => setRound((round) => round + 1), [])
  }
}
