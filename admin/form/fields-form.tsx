import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Fault } from '../api/types.ts'
import { type Speech, useSpeech } from '../state/texts.ts'
import { Control } from './controls.tsx'
import { type Draft, draftFaults, isGroup, pointerOf } from './draft.ts'

/** What can't be sent of a form: JSON that is none, and dates that are typed in part, whose input has no value. */
export function formFaults (form: HTMLFormElement, draft: Draft, { say }: Speech): Fault[] {
  const unfinished = [...form.elements].filter((each) => each instanceof HTMLInputElement && each.validity.badInput)
  return [
    ...draftFaults(draft, say('user.notJson')),
    ...unfinished.map((each) =>
      ({ pointer: each.getAttribute('name') ?? '', code: 'not_complete', detail: say('user.notComplete') }))
  ]
}

interface FieldsFormProps {
  draft: Draft
  faults: readonly Fault[]
  onDraft: (draft: Draft) => void
}

/** The controls of all members of an object. New faults are brought before the person: the first one gets the focus. */
export function FieldsForm ({ draft, faults, onDraft }: FieldsFormProps) {
  const { sayFault } = useSpeech()
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (faults.length === 0) return
    const wrong = element.current?.querySelector('[aria-invalid=true]')
    if (wrong instanceof HTMLElement) wrong.focus()
  }, [faults])
  if (!isGroup(draft)) return null
  const { kind, members } = draft
  const names = Object.keys(members)
  const elsewhere = faults.filter(({ pointer = '' }) =>
    !names.some((name) => pointerOf('', name) === `/${pointer.split('/')[1] ?? ''}`))
  return (
    <div ref={element} class='members'>
      {elsewhere.map((fault, i) => <p key={i} class='fault'>{`${fault.pointer ?? ''} ${sayFault(fault)}`}</p>)}
      {Object.entries(members).map(([name, member]) => (
        <Control
          key={name}
          name={name}
          schema={kind.properties[name] ?? {}}
          pointer={pointerOf('', name)}
          draft={member}
          faults={faults}
          onDraft={(changed) => onDraft({ ...draft, members: { ...members, [name]: changed } })}
        />
      ))}
    </div>
  )
}
