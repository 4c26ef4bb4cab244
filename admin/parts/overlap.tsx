import { useSpeech } from '../state/texts.ts'
import { SelectField } from './field.tsx'

const HOUR = 3600

/** A day: how long what is rotated goes on, in seconds. */
export const USUAL_OVERLAP = 24 * HOUR

interface OverlapProps { label: string, value: number, onValue: (seconds: number) => void }

/** How long what is rotated goes on beside its successor. */
export function Overlap ({ label, value, onValue }: OverlapProps) {
  const { say } = useSpeech()
  return (
    <SelectField
      label={label}
      value={String(value)}
      options={[
        ['0', say('keys.now')],
        [String(HOUR), say('keys.hour')],
        [String(24 * HOUR), say('keys.days', { count: 1 })],
        [String(7 * 24 * HOUR), say('keys.days', { count: 7 })]
      ]}
      onValue={(value) => onValue(Number(value))}
    />
  )
}
