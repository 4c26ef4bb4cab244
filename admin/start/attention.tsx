import { useEffect } from 'preact/hooks'
import { readAll } from '../api/read-all.ts'
import type { ApiKey, Webhook } from '../api/types.ts'
import { keyHref } from '../keys/detail.tsx'
import { WhenLoaded } from '../parts/feedback.tsx'
import { useLoad } from '../state/load.ts'
import { hrefOf } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { WebhookStatus } from '../webhooks/status.tsx'

const DAY_MS = 86_400_000
const SOON_DAYS = 30
const PAGES = 10
const SHOWN = 5

const isFailing = ({ enabled, disabledReason, failingSince }: Webhook): boolean =>
  enabled ? failingSince !== undefined : disabledReason !== undefined

interface AlarmProps {
  /** Called with how many ask for a look. */
  onFound: (count: number) => void
}

/** The webhooks that fail, or were turned off because they did. */
export function FailingWebhooks ({ onFound }: AlarmProps) {
  const { say } = useSpeech()
  const { client, capabilities: { pageSize } } = useSession()
  const loaded = useLoad('webhooks', async (signal) =>
    (await readAll<Webhook>(client, '/webhooks', { limit: pageSize.max, pages: PAGES, signal }))
      .items.filter(isFailing))
  useEffect(() => { if (loaded.value !== null) onFound(loaded.value.length) }, [loaded.value])
  return (
    <WhenLoaded loaded={loaded}>
      {(failing) => failing.length === 0
        ? <p class='muted'>{say('start.noWebhooks')}</p>
        : (
          <ul class='matters'>
            {failing.slice(0, SHOWN).map((webhook) => (
              <li key={webhook.id}>
                <a class='name' href={hrefOf(['webhooks', webhook.id])}>
                  <bdi>{webhook.description ?? webhook.url}</bdi>
                </a>
                <WebhookStatus webhook={webhook} />
              </li>
            ))}
          </ul>
          )}
    </WhenLoaded>
  )
}

/** The keys that expire within 30 days, the soonest first. */
export function ExpiringKeys ({ onFound }: AlarmProps) {
  const { say, ago } = useSpeech()
  const { client, capabilities: { pageSize } } = useSession()
  const loaded = useLoad('keys', async (signal) => {
    const now = Date.now()
    const left = ({ expiresAt, revokedAt }: ApiKey): number =>
      revokedAt !== undefined || expiresAt === undefined ? Infinity : Date.parse(expiresAt) - now
    const { items } = await readAll<ApiKey>(client, '/api-keys', { limit: pageSize.max, pages: PAGES, signal })
    return items
      .filter((apiKey) => left(apiKey) > 0 && left(apiKey) <= SOON_DAYS * DAY_MS)
      .sort((a, b) => left(a) - left(b))
  })
  useEffect(() => { if (loaded.value !== null) onFound(loaded.value.length) }, [loaded.value])
  return (
    <WhenLoaded loaded={loaded}>
      {(expiring) => expiring.length === 0
        ? <p class='muted'>{say('start.noKeys')}</p>
        : (
          <ul class='matters'>
            {expiring.slice(0, SHOWN).map(({ id, name, expiresAt = '' }) => (
              <li key={id}>
                <a class='name' href={keyHref(id)}><bdi>{name}</bdi></a>
                <span class='badge soon'>{ago(expiresAt)}</span>
              </li>
            ))}
          </ul>
          )}
    </WhenLoaded>
  )
}
