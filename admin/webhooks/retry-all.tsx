import { useEffect, useRef, useState } from 'preact/hooks'
import { wait } from '../api/client.ts'
import type { Delivery, Webhook } from '../api/types.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Alert } from '../parts/feedback.tsx'
import { useGuard } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { failedDeliveries, type Outcome, outcomeOf, pauseAfter, type Retried, retryMany } from './retry.ts'

type Phase = 'looks' | 'asks' | 'runs' | 'stops' | 'ended'

/** Sends everything again that has failed, after it was counted. The API knows one delivery at a time. */
export function RetryAll ({ webhook, onClose }: { webhook: Webhook, onClose: (isDone: boolean) => void }) {
  const { say, sayError } = useSpeech()
  const { client, capabilities: { pageSize } } = useSession()
  const [phase, setPhase] = useState<Phase>('looks')
  const [looked, setLooked] = useState({ seen: 0, total: 1 })
  const [failed, setFailed] = useState<readonly Delivery[]>([])
  const [retried, setRetried] = useState<Retried>({ done: 0, refused: [] })
  const [error, setError] = useState<unknown>(null)
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const button = useRef<HTMLButtonElement>(null)
  const controller = useRef(new AbortController())
  const { done, refused } = retried
  const count = failed.length
  const tried = done + refused.length
  useGuard(() => phase !== 'runs' && phase !== 'stops', say('hooks.retryLeave'))

  useEffect(() => {
    const { current: { signal } } = controller
    failedDeliveries(client, webhook.id, {
      limit: pageSize.max,
      signal,
      onProgress: (seen, total) => setLooked({ seen, total })
    }).then((failed) => {
      setFailed(failed)
      setPhase('asks')
    }, (error: unknown) => { if (!signal.aborted) setError(error) })
    return () => controller.current.abort()
  }, [])

  // What came of them is read until nothing is on its way, or nobody looks.
  useEffect(() => {
    if (phase !== 'ended' || done === 0) return
    const { signal } = controller.current = new AbortController()
    const sent = failed.filter(({ id }) => !refused.some(({ delivery }) => delivery.id === id)).slice(0, done)
    const follow = async (): Promise<void> => {
      for (let looks = 0; !signal.aborted; looks++) {
        const found = await outcomeOf(client, webhook.id, sent, { limit: pageSize.max, signal, onProgress () {} })
        setOutcome(found)
        if (found.waiting === 0 || !webhook.enabled) return
        await wait(pauseAfter(looks) / 1000, signal)
      }
    }
    follow().catch((error: unknown) => { if (!signal.aborted) setError(error) })
    return () => controller.current.abort()
  }, [phase])

  const start = (): void => {
    // The button that began it is gone then.
    button.current?.focus()
    setPhase('runs')
    retryMany(client, webhook.id, failed, { signal: controller.current.signal, onProgress: setRetried })
      .finally(() => setPhase('ended'))
  }
  const close = (): void => {
    if (phase !== 'runs' && phase !== 'stops') return onClose(phase === 'ended')
    controller.current.abort()
    setPhase('stops')
  }
  const isAsking = phase === 'asks' && count > 0
  return (
    <Dialog title={say('hooks.retryAll')} onClose={close}>
      <Alert error={error} />
      {phase === 'looks' && error === null && (
        <>
          <progress value={looked.seen} max={looked.total} aria-label={say('hooks.looking')} />
          <p role='status'>{say('hooks.looking')}</p>
        </>
      )}
      {phase === 'asks' && (
        <p role='status'>{say(count === 0 ? 'hooks.noneFailed' : 'hooks.failedCount', { count })}</p>
      )}
      {isAsking && !webhook.enabled && <p>{say('hooks.retryOff')}</p>}
      {['runs', 'stops', 'ended'].includes(phase) && (
        <>
          <progress value={tried} max={count} aria-label={say('bulk.progress', { done: tried, count })} />
          <p role='status'>
            {phase === 'ended'
              ? say('hooks.retryResult', { done, refused: refused.length, left: count - tried })
              : say('bulk.progress', { done: tried, count })}
          </p>
          {outcome !== null && <p role='status'>{say('hooks.retryOutcome', { ...outcome })}</p>}
          {refused.length > 0 && (
            <ul class='refused'>
              {refused.map(({ delivery: { id, type, event }, error }) => (
                <li key={id}><code>{type}</code> <code>{event}</code>: {sayError(error)}</li>
              ))}
            </ul>
          )}
        </>
      )}
      <div class='bar'>
        {isAsking && (
          <button type='button' class='primary' onClick={start}>{say('hooks.retryCount', { count })}</button>
        )}
        <button ref={button} type='button' aria-disabled={phase === 'stops'} onClick={close}>
          {say(isAsking ? 'page.cancel' : phase === 'runs' || phase === 'stops' ? 'bulk.stop' : 'page.close')}
        </button>
      </div>
    </Dialog>
  )
}
