import type { Delivery } from '../api/types.ts'
import { Dialog } from '../parts/dialog.tsx'
import { CopyButton, Missing, WhenLoaded } from '../parts/feedback.tsx'
import { useLoad } from '../state/load.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { findEvent, TEST } from './events.ts'
import { DeliveryStatus, sayAttempt } from './status.tsx'

/** What is sent: the event as the log has it now. */
function Payload ({ event: id }: { event: string }) {
  const { say } = useSpeech()
  const { client } = useSession()
  const loaded = useLoad(id, async (signal) => await findEvent(client, id, signal))
  return (
    <WhenLoaded loaded={loaded}>
      {(event) => {
        const text = JSON.stringify(event, null, 2)
        return (
          <>
            <div class='bar'><h3>{say('hooks.payload')}</h3><CopyButton what={say('hooks.payload')} text={text} /></div>
            <pre class='payload' tabIndex={0}>{text}</pre>
          </>
        )
      }}
    </WhenLoaded>
  )
}

/** One delivery: each attempt, and what is sent. */
export function DeliveryDialog ({ delivery, onClose }: { delivery: Delivery, onClose: () => void }) {
  const speech = useSpeech()
  const { say } = speech
  const { can, capabilities: { offers } } = useSession()
  const { type, event, attempts } = delivery
  return (
    <Dialog title={type} look='wide' onClose={onClose}>
      <p class='facts'>
        <DeliveryStatus delivery={delivery} />
        <span>webhook-id: <code>{event}</code></span>
        <CopyButton what='webhook-id' text={event} />
      </p>
      <h3>{say('hooks.attempts')}</h3>
      {attempts.length === 0 && <p>{say('hooks.noAttempts')}</p>}
      <ol class='attempts'>
        {attempts.map((attempt) => (
          <li key={attempt.at}>
            {sayAttempt(speech, attempt)}
            {attempt.response !== undefined && (
              <>
                <span class='visually-hidden'>{say('hooks.response')}</span>
                <pre class='payload'>{attempt.response}</pre>
              </>
            )}
          </li>
        ))}
      </ol>
      {type === TEST
        ? <p>{say('hooks.testPayload')}</p>
        : offers.events && can('events:read')
          ? <Payload event={event} />
          : <Missing scopes={['events:read']} />}
      <div class='bar'><button type='button' onClick={onClose}>{say('page.close')}</button></div>
    </Dialog>
  )
}
