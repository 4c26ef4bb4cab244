import type { Answer } from '../api/client.ts'
import { ApiError } from '../api/error.ts'
import type { LoggedEvent, User } from '../api/types.ts'
import { Alert, useAction } from '../parts/feedback.tsx'
import { useNotify } from '../state/notices.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { isChange } from './changes.tsx'

interface RevertProps {
  event: LoggedEvent
  /** The user as the person sees it. */
  stored: Answer<User>
  /** Called with the user as it is stored afterwards. */
  onStored: (stored: Answer<User>) => void
  /** The user has another version than the person has seen. */
  onChanged: () => void
}

/** Sets a user back to what it was before a change. */
export function Revert ({ event, stored: { body: user, etag }, onStored, onChanged }: RevertProps) {
  const { say } = useSpeech()
  const { client, can } = useSession()
  const notify = useNotify()
  const { error, isBusy, run } = useAction()
  const mayRevert = can('users:write') && can('users:read')
  if (!mayRevert || !isChange(event) || event.data['name'] === null) return null
  const revert = (): void => {
    run(async () => {
      try {
        const headers = { 'if-match': etag ?? '*' }
        onStored(await client.send<User>('POST', `/users/${user.id}/revert`, { body: { event: event.id }, headers }))
        notify(say('user.reverted'))
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 412) throw error
        onChanged()
      }
    })
  }
  return (
    <>
      <button type='button' class='small' disabled={isBusy} onClick={revert}>{say('user.revert')}</button>
      <Alert error={error} />
    </>
  )
}
