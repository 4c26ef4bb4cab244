import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Listed, User } from '../api/types.ts'
import { WhenLoaded } from '../parts/feedback.tsx'
import { useLoad } from '../state/load.ts'
import { hrefOf } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { ExpiringKeys, FailingWebhooks } from './attention.tsx'
import { Chart } from './chart.tsx'
import { Latest } from './latest.tsx'
import { createdIn, readSignUps } from './sign-ups.ts'

interface CardProps {
  title: string
  /** Where all of what the card shows a part of is. */
  href: string
  more: string
  children: ComponentChildren
}

function Card ({ title, href, more, children }: CardProps) {
  return (
    <section class='card'>
      <div class='bar'><h2>{title}</h2><span class='space' /><a href={href}>{more}</a></div>
      {children}
    </section>
  )
}

/** How many users there are, by their status. */
function Totals () {
  const { say, number } = useSpeech()
  const { client, can, capabilities: { offers } } = useSession()
  const hasTrash = offers.trash && can('users:delete')
  const loaded = useLoad('totals', async (signal) => {
    const total = async (path: string): Promise<number> =>
      (await client.get<Listed<User>>(path, { signal })).body.meta.total
    const [all, suspended, deleted] = await Promise.all([
      total('/users?limit=1'), total('/users?limit=1&status=suspended'),
      hasTrash ? total('/users/deleted?limit=1') : null
    ])
    return { all, suspended, deleted }
  })
  const tile = (label: string, count: number, href: string) => (
    <li><a href={href}><strong>{number(count)}</strong> <span>{label}</span></a></li>
  )
  const withStatus = (status: string): string => hrefOf(['users'], new URLSearchParams({ status }))
  return (
    <WhenLoaded loaded={loaded}>
      {({ all, suspended, deleted }) => (
        <ul class='tiles' aria-label={say('start.totals')}>
          {tile(say('users.title'), all, hrefOf(['users']))}
          {tile(say('users.active'), all - suspended, withStatus('active'))}
          {tile(say('users.suspended'), suspended, withStatus('suspended'))}
          {deleted !== null && tile(say('start.deleted'), deleted, hrefOf(['users', 'deleted']))}
        </ul>
      )}
    </WhenLoaded>
  )
}

function SignUpsCard () {
  const { say } = useSpeech()
  const { client, capabilities: { pageSize } } = useSession()
  const loaded = useLoad('sign-ups', (signal) => readSignUps(client, pageSize.max, new Date(), signal))
  const from = loaded.value?.bars[0]?.from
  return (
    <Card
      title={say('start.signUps')}
      href={hrefOf(['users'], from && new URLSearchParams(createdIn(from)))}
      more={loaded.value === null ? say('users.title') : say('users.total', { count: loaded.value.total })}
    >
      <WhenLoaded loaded={loaded}>
        {(signUps) => (
          <Chart label={say(signUps.isByWeek ? 'start.byWeek' : 'start.byDay')} signUps={signUps} />
        )}
      </WhenLoaded>
    </Card>
  )
}

/** Where somebody begins: what asks for a look, how many users there are, and what has changed. */
export function Start () {
  const { say } = useSpeech()
  const { can, capabilities: { offers } } = useSession()
  const [alarms, setAlarms] = useState({ webhooks: 0, keys: 0 })
  const hasWebhooks = offers.webhooks && can('webhooks:read')
  const hasKeys = offers.apiKeys && can('keys:read')
  const attention = (hasWebhooks || hasKeys) && (
    <div key='attention' class='columns even'>
      {hasWebhooks && (
        <Card title={say('start.webhooks')} href={hrefOf(['webhooks'])} more={say('start.allWebhooks')}>
          <FailingWebhooks onFound={(webhooks) => setAlarms((alarms) => ({ ...alarms, webhooks }))} />
        </Card>
      )}
      {hasKeys && (
        <Card title={say('start.keys')} href={hrefOf(['api-keys'])} more={say('start.allKeys')}>
          <ExpiringKeys onFound={(keys) => setAlarms((alarms) => ({ ...alarms, keys }))} />
        </Card>
      )}
    </div>
  )
  const rest = [
    can('users:read') && <Totals key='totals' />,
    can('users:read') && <SignUpsCard key='sign-ups' />,
    <Card key='latest' title={say('start.latest')} href={hrefOf(['events'])} more={say('start.allEvents')}>
      <Latest />
    </Card>
  ]
  // What asks for nothing comes last.
  return <div class='start'>{alarms.webhooks + alarms.keys > 0 ? [attention, ...rest] : [...rest, attention]}</div>
}
