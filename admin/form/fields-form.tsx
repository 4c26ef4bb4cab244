import { useEffect, useRef } from 'preact/hooks'
import type { Fault, Schema } from '../api/types.ts'
import { useSpeech } from '../state/texts.ts'
import { Control } from './controls.tsx'
import { type Draft, isDraftObject } from './draft.ts'
import { kindOf } from './kinds.ts'

interface FieldsFormProps {
  schema: Schema
  draft: Draft
  faults: readonly Fault[]
  onDraft: (draft: Draft) => void
}

/** The controls of all members of an object. New faults are brought before the person: the first one gets the focus. */
export function FieldsForm ({ schema, draft, faults, onDraft }: FieldsFormProps) {
  const { sayFault } = useSpeech()
  const element = useRef<HTMLDivElement>(null)
  const kind = kindOf(schema)
  useEffect(() => {
    if (faults.length === 0) return
    const wrong = element.current?.querySelector('[aria-invalid=true]')
    if (wrong instanceof HTMLElement) wrong.focus()
  }, [faults])
  if (kind.is !== 'object') return null
  const given = isDraftObject(draft) ? draft : {}
  const names = Object.keys(kind.properties)
  const elsewhere = faults.filter(({ pointer = '' }) => !names.includes(pointer.split('/')[1] ?? ''))
  return (
    <div ref={element}>
      {elsewhere.map((fault, i) => <p key={i} class='fault'>{`${fault.pointer ?? ''} ${sayFault(fault)}`}</p>)}
      {Object.entries(kind.properties).map(([name, inner]) => (
        <Control
          key={name}
          name={name}
          schema={inner}
          isRequired={kind.required.includes(name)}
          pointer={`/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`}
          draft={given[name]}
          faults={faults}
          onDraft={(changed) => onDraft({ ...given, [name]: changed })}
        />
      ))}
    </div>
  )
}
