import type { Fault, Schema } from '../api/types.ts'
import { Checkbox, Field, SelectField, TextField } from '../parts/field.tsx'
import { useSpeech } from '../state/texts.ts'
import { type Draft, isDraftObject, pointerOf } from './draft.ts'
import { type Kind, kindOf, labelOf } from './kinds.ts'
import { fromLocal, toLocal } from './moments.ts'

interface ControlProps {
  name: string
  schema: Schema
  isRequired: boolean
  pointer: string
  draft: Draft | undefined
  faults: readonly Fault[]
  onDraft: (draft: Draft) => void
}

const LINES = 4

/** The fault at a place; of a value that has one control, also those inside it. */
function faultAt (faults: readonly Fault[], pointer: string, isWhole: boolean): Fault | undefined {
  return faults.find((fault) => fault.pointer === pointer ||
    (isWhole && fault.pointer?.startsWith(`${pointer}/`) === true))
}

/** The control of a field, after its schema. */
export function Control (props: ControlProps) {
  const kind = kindOf(props.schema)
  return kind.is === 'object' ? <Group {...props} kind={kind} /> : <Scalar {...props} kind={kind} />
}

function Group ({ name, schema, isRequired, pointer, draft, faults, onDraft, kind }: ControlProps & {
  kind: Extract<Kind, { is: 'object' }>
}) {
  const { sayFault } = useSpeech()
  const given = isDraftObject(draft) ? draft : {}
  const fault = faultAt(faults, pointer, false)
  return (
    <fieldset>
      <legend>{labelOf(name, schema)}</legend>
      {fault !== undefined && <p class='fault'>{sayFault(fault)}</p>}
      {Object.entries(kind.properties).map(([inner, innerSchema]) => (
        <Control
          key={inner}
          name={inner}
          schema={innerSchema}
          isRequired={isRequired && kind.required.includes(inner)}
          pointer={pointerOf(pointer, inner)}
          draft={given[inner]}
          faults={faults}
          onDraft={(changed) => onDraft({ ...given, [inner]: changed })}
        />
      ))}
    </fieldset>
  )
}

function Scalar ({ name, schema, isRequired, pointer, draft, faults, onDraft, kind }: ControlProps & { kind: Kind }) {
  const { say, sayFault } = useSpeech()
  const value = typeof draft === 'string' ? draft : ''
  const found = faultAt(faults, pointer, true)
  const label = labelOf(name, schema)
  const own = schema['description']
  const words = [
    typeof own === 'string' ? own : '',
    kind.is === 'lines' ? say('user.oneForLine') : kind.is === 'json' ? say('user.json') : ''
  ].filter((each) => each !== '').join(' ')
  const common = {
    label,
    isRequired,
    ...(words !== '' && { hint: words }),
    ...(found !== undefined && { fault: sayFault(found) })
  }
  const line = { ...common, value, onValue: onDraft }
  switch (kind.is) {
    case 'choice': return (
      <SelectField
        {...line}
        options={[
          ...(isRequired && value !== '' ? [] : [['', say('page.notSet')] as const]),
          ...kind.choices.map((choice) =>
            [JSON.stringify(choice), typeof choice === 'string' ? choice : JSON.stringify(choice)] as const)
        ]}
      />
    )
    case 'flag': return isRequired
      ? (
        <div class='field'>
          <Checkbox label={label} checked={value === 'true'} onChecked={(on) => onDraft(String(on))} />
          {words !== '' && <p class='hint'>{words}</p>}
          {found !== undefined && <p class='fault'>{sayFault(found)}</p>}
        </div>
        )
      : (
        <SelectField
          {...line}
          options={[['', say('page.notSet')], ['true', say('page.yes')], ['false', say('page.no')]]}
        />
        )
    case 'number': return <TextField {...line} inputMode='decimal' dir='ltr' />
    case 'date': return <TextField {...line} type='date' />
    case 'moment': return (
      <TextField
        {...common}
        type='datetime-local'
        step={1}
        value={toLocal(value)}
        onValue={(local) => onDraft(fromLocal(local))}
      />
    )
    case 'text': if (!kind.isLong) return <TextField {...line} type={kind.type} />
  }
  return (
    <Field {...common}>
      {(control) => (
        <textarea
          {...control}
          dir='auto'
          rows={LINES}
          class={kind.is === 'json' ? 'code' : ''}
          spellcheck={kind.is === 'text'}
          value={value}
          onInput={(event) => onDraft(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}
