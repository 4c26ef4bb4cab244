import { useLoad } from '../state/load.ts'
import { namedIn } from '../state/pasted.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { findNamed } from './named.ts'

/** A link to what a search for users names, if that is no user: a key, an event or a webhook. */
export function Elsewhere ({ text }: { text: string }) {
  const speech = useSpeech()
  const session = useSession()
  const named = namedIn(text)
  const isElsewhere = named !== null && named.is !== 'usr'
  const { value, isStale } = useLoad(isElsewhere ? named.text : '', async (signal) =>
    isElsewhere ? await findNamed(named, session, speech, signal) : null)
  return (
    <p class={value === null || isStale ? 'visually-hidden' : 'hint'} role='status'>
      {value !== null && !isStale && <>{value.note}: <a href={value.href}><bdi>{value.label}</bdi></a></>}
    </p>
  )
}
