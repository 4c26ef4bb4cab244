import type { Feed, LoggedEvent } from '../api/types.ts'
import { Changes } from '../events/changes.tsx'
import { keyHref } from '../keys/detail.tsx'
import { WhenLoaded } from '../parts/feedback.tsx'
import { useLoad } from '../state/load.ts'
import { hrefOf } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { type TextName, useSpeech } from '../state/texts.ts'

const SHOWN = 8

const SENTENCES = new Map<string, TextName>([
  ['user.created', 'start.user.created'], ['user.updated', 'start.user.updated'],
  ['user.suspended', 'start.user.suspended'], ['user.activated', 'start.user.activated'],
  ['user.deleted', 'start.user.deleted'], ['user.restored', 'start.user.restored'],
  ['user.purged', 'start.user.purged'], ['api_key.created', 'start.api_key.created'],
  ['api_key.rotated', 'start.api_key.rotated'], ['api_key.revoked', 'start.api_key.revoked'],
  ['webhook.disabled', 'start.webhook.disabled']
])
const GONE = ['user.deleted', 'user.purged']

/** Stands for the name in a sentence, until a link takes its place. */
const MARK = '\u0000'

function hrefFor ({ type, data }: LoggedEvent): string {
  const id = String(data['id'])
  if (GONE.includes(type)) return hrefOf(['events'], new URLSearchParams({ subject: id }))
  if (type.startsWith('user.')) return hrefOf(['users', id])
  return type.startsWith('webhook.') ? hrefOf(['webhooks', id]) : keyHref(id)
}

/** Who did what to whom. */
function Sentence ({ event }: { event: LoggedEvent }) {
  const { say } = useSpeech()
  const { type, data, actor, reverts } = event
  const who = actor === null ? say('events.server') : `\u2068${actor.name ?? actor.id}\u2069`
  const text = reverts === undefined ? SENTENCES.get(type) ?? 'start.other' : 'start.reverted'
  const words = say(text, { who, type, name: MARK })
  const [before = '', after = ''] = words.split(MARK)
  const name = [data['name'], data['url'], data['id']].find((each) => typeof each === 'string')
  return <p>{before}<a class='name' href={hrefFor(event)}><bdi>{name}</bdi></a>{after}</p>
}

/** The newest events, of everybody. */
export function Latest () {
  const { say, ago, time } = useSpeech()
  const { client, capabilities: { pageSize } } = useSession()
  const loaded = useLoad('latest', async (signal) => {
    const limit = Math.min(SHOWN, pageSize.max)
    return (await client.get<Feed>(`/events?order=desc&limit=${limit}`, { signal })).body
  })
  return (
    <WhenLoaded loaded={loaded}>
      {({ data }) => data.length === 0
        ? <p>{say('events.none')}</p>
        : (
          <ol class='timeline' aria-label={say('start.latest')}>
            {data.map((event) => (
              <li key={event.id}>
                <Sentence event={event} />
                <Changes event={event} />
                <p class='when'>
                  <time dateTime={event.timestamp} title={time(event.timestamp)}>{ago(event.timestamp)}</time>
                </p>
              </li>
            ))}
          </ol>
          )}
    </WhenLoaded>
  )
}
