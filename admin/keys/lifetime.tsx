import type { Capabilities } from '../api/types.ts'
import { SelectField } from '../parts/field.tsx'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'

const YEAR = 365
const LIFETIMES = [30, 90, YEAR]
/** As long as the caller's own key, which may be for ever. */
const LONGEST = 'longest'
/** Of a rotation: as long as the key that is replaced was to live. */
export const AS_BEFORE = ''
const DAY_SECONDS = 86_400

type Caller = Capabilities['caller']

/** The lifetimes, in days, that a caller can give: none beyond its own. */
function lifetimesOf ({ expiresAt }: Caller): number[] {
  const left = expiresAt === undefined ? Infinity : Date.parse(expiresAt) - Date.now()
  return LIFETIMES.filter((days) => days * DAY_SECONDS * 1000 < left)
}

/** The lifetime of a new key, unless the person chooses another. */
export const usualLifetime = (caller: Caller): string =>
  caller.expiresAt === undefined ? String(YEAR) : String(lifetimesOf(caller)[0] ?? LONGEST)

/** What the API is told of a lifetime. */
export function expiryOf (lifetime: string, { expiresAt }: Caller): { expiresAt?: string | null, expiresIn?: number } {
  if (lifetime === AS_BEFORE) return {}
  return lifetime === LONGEST ? { expiresAt: expiresAt ?? null } : { expiresIn: Number(lifetime) * DAY_SECONDS }
}

interface LifetimeProps {
  value: string
  /** True for a key that replaces another. */
  isRotation?: boolean
  fault: string | undefined
  onValue: (value: string) => void
}

/** How long a new key lives. */
export function Lifetime ({ value, isRotation = false, fault, onValue }: LifetimeProps) {
  const { say } = useSpeech()
  const { capabilities: { caller } } = useSession()
  return (
    <SelectField
      label={say(isRotation ? 'keys.newLifetime' : 'keys.lifetime')}
      value={value}
      fault={fault}
      options={[
        ...isRotation ? [[AS_BEFORE, say('keys.asBefore')] as const] : [],
        ...lifetimesOf(caller).map((days) =>
          [String(days), days === YEAR ? say('keys.year') : say('keys.days', { count: days })] as const),
        [LONGEST, say(caller.expiresAt === undefined ? 'keys.forever' : 'keys.untilOwn')]
      ]}
      onValue={onValue}
    />
  )
}
