import { useEffect, useRef, useState } from 'preact/hooks'
import type { Delivery, Webhook } from '../api/types.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Alert } from '../parts/feedback.tsx'
import { useGuard } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { failedDeliveries, type Retried, retryMany } from './retry.ts'

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

  const start = (): void => {
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
        <button type='button' disabled={phase === 'stops'} onClick={close}>
          {say(isAsking ? 'page.cancel' : phase === 'runs' || phase === 'stops' ? 'bulk.stop' : 'page.close')}
        </button>
      </div>
    </Dialog>
  )
}
