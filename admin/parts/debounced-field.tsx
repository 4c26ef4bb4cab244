import { useEffect, useRef, useState } from 'preact/hooks'
import { useSpeech } from '../state/texts.ts'
import { TextField } from './field.tsx'

const PAUSE_MS = 250

interface DebouncedFieldProps {
  label: string
  hint?: string
  placeholder?: string
  /** The id of a list of suggestions. */
  list?: string
  fault?: string | undefined
  type?: 'search' | 'date' | 'datetime-local'
  inputMode?: 'decimal'
  value: string
  onValue: (value: string) => void
}

/** Text that is handed on when the person pauses. A date that is left when it is typed in part is marked. */
export function DebouncedField ({ value, fault, onValue, ...rest }: DebouncedFieldProps) {
  const { say } = useSpeech()
  const [isPartial, setPartial] = useState(false)
  const [typed, setTyped] = useState(value)
  const handed = useRef(value)
  const latest = useRef(onValue)
  latest.current = onValue
  // The address has changed by other means, such as the button Back.
  useEffect(() => {
    if (value === handed.current) return
    handed.current = value
    setTyped(value)
  }, [value])
  useEffect(() => {
    if (typed === handed.current) return
    const timer = setTimeout(() => {
      handed.current = typed
      latest.current(typed)
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <TextField
      {...rest}
      isQuery
      value={typed}
      fault={isPartial ? say('user.notComplete') : fault}
      onValue={(value) => {
        setPartial(false)
        setTyped(value)
      }}
      onLeave={setPartial}
    />
  )
}
