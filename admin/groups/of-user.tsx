import type { Group, Listed } from '../api/types.ts'
import { WhenLoaded } from '../parts/feedback.tsx'
import { useLoad } from '../state/load.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { groupHref } from './list.tsx'

/** The groups of a user: the first, and how many more there are. */
export function UserGroups ({ user }: { user: string }) {
  const { say } = useSpeech()
  const { client } = useSession()
  const loaded = useLoad(user, async (signal) =>
    (await client.get<Listed<Group>>(`/users/${user}/groups`, { signal })).body)
  return (
    <section class='card'>
      <h2>{say('groups.title')}</h2>
      <WhenLoaded loaded={loaded}>
        {({ data, meta: { total } }) => total === 0
          ? <p class='hint'>{say('groups.ofNone')}</p>
          : (
            <>
              <p class='facts'>
                {data.map(({ id, name }) => <a key={id} href={groupHref(id)}><bdi>{name}</bdi></a>)}
              </p>
              {total > data.length && <p class='hint'>{say('keys.more', { count: total - data.length })}</p>}
            </>
            )}
      </WhenLoaded>
    </section>
  )
}
