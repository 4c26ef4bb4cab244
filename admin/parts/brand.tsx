import { useSettings } from '../state/settings.ts'
import { useSpeech } from '../state/texts.ts'

/** The mark of the page, where the host has none of its own: a person. */
function Mark () {
  return (
    <svg class='mark' viewBox='0 0 24 24' aria-hidden='true' focusable='false'>
      <rect width='24' height='24' rx='6' />
      <circle cx='12' cy='8.8' r='3.2' />
      <path d='M5.6 18.6c.5-3.6 3-5.4 6.4-5.4s5.9 1.8 6.4 5.4Z' />
    </svg>
  )
}

/** The mark and the name of the page: as the host says, or by the host's address. */
export function Brand () {
  const { title, logo } = useSettings()
  const { say } = useSpeech()
  return (
    <span class='brand'>
      {logo === null ? <Mark /> : <img src={logo} alt='' />}
      <bdi>{title ?? `${say('page.title')} · ${location.host}`}</bdi>
    </span>
  )
}
