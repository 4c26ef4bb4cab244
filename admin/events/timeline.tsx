import type { ComponentChildren } from 'preact'
import type { LoggedEvent } from '../api/types.ts'
import { type TextName, useSpeech } from '../state/texts.ts'
import { Changes } from './changes.tsx'

const SENTENCES = new Map<string, TextName>([
  ['user.created', 'history.user.created'], ['user.updated', 'history.user.updated'],
  ['user.suspended', 'history.user.suspended'], ['user.activated', 'history.user.activated'],
  ['user.deleted', 'history.user.deleted'], ['user.restored', 'history.user.restored'],
  ['user.purged', 'history.user.purged']
])

interface TimelineProps {
  label: string
  events: readonly LoggedEvent[]
  /** What can be done about an event. */
  action: (event: LoggedEvent) => ComponentChildren
}

/** What has happened to one user: who did what, and how long ago. */
export function Timeline ({ label, events, action }: TimelineProps) {
  const { say, ago, time } = useSpeech()
  return (
    <ol class='timeline' aria-label={label}>
      {events.map((event) => {
        const { id, type, timestamp, actor, reverts } = event
        // A name is set in its own direction within the sentence.
        const who = actor === null ? say('events.server') : `\u2068${actor.name ?? actor.id}\u2069`
        const exact = `${time(timestamp)} (${timestamp})`
        return (
          <li key={id} id={id} tabIndex={-1}>
            <p {...(actor !== null && { title: actor.id })}>
              {say(reverts === undefined ? SENTENCES.get(type) ?? 'history.other' : 'history.reverted', { who, type })}
            </p>
            <Changes event={event} />
            <p class='when'>
              <time dateTime={timestamp} title={exact}>{ago(timestamp)}</time>
              {action(event)}
            </p>
          </li>
        )
      })}
    </ol>
  )
}
