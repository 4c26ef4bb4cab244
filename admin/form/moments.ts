const two = (value: number): string => String(value).padStart(2, '0')

/** What an input of the type `datetime-local` shows for a moment: in the person's time zone. */
export function toLocal (moment: string): string {
  const date = new Date(moment)
  if (moment === '' || Number.isNaN(date.getTime())) return ''
  const day = `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  const milliseconds = date.getMilliseconds()
  const fraction = milliseconds === 0 ? '' : `.${String(milliseconds).padStart(3, '0')}`
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}${fraction}`
}

/** The moment that a person has chosen, in UTC. */
export function fromLocal (local: string): string {
  const date = new Date(local)
  return local === '' || Number.isNaN(date.getTime()) ? '' : date.toISOString()
}

// To the millisecond, with its time zone: `Date` reads other texts too.
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?(?:Z|[+-]\d\d:\d\d)$/i

/** True if an input of the type `datetime-local` can show the moment exactly. */
export function isShownMoment (moment: string): boolean {
  const local = toLocal(moment)
  return MOMENT.test(moment) && /^(?!0000)\d{4}-/.test(local) && Date.parse(fromLocal(local)) === Date.parse(moment)
}

/** True if an input of the type `date` can show the day. */
export function isShownDate (text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`)
  return /^(?!0000)\d{4}-/.test(text) && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(`${text}T`)
}
