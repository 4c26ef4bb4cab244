import { useSettings } from '../state/settings.ts'

/** The host's logo and title, as far as it has given any. */
export function Brand () {
  const { title, logo } = useSettings()
  if (title === null && logo === null) return null
  return (
    <span class='brand'>
      {logo !== null && <img src={logo} alt='' />}
      {title !== null && <bdi>{title}</bdi>}
    </span>
  )
}
