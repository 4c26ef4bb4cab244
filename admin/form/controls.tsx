import type { Fault, Schema } from '../api/types.ts'
import { Checkbox, Field, SelectField, TextField } from '../parts/field.tsx'
import { useSpeech } from '../state/texts.ts'
import { type Draft, type Group, isDraftNull, isGroup, pointerOf, type Single } from './draft.ts'
import { hintOf } from './hints.ts'
import { labelOf } from './kinds.ts'
import { fromLocal, toLocal } from './moments.ts'

interface ControlProps<Edited extends Draft = Draft> {
  name: string
  schema: Schema
  pointer: string
  draft: Edited
  faults: readonly Fault[]
  onDraft: (draft: Draft) => void
}

const LINES = 4

/** The fault at a place; of a value that has one control, also those inside it. */
function faultAt (faults: readonly Fault[], pointer: string, isWhole: boolean): Fault | undefined {
  return faults.find((fault) => fault.pointer === pointer ||
    (isWhole && fault.pointer?.startsWith(`${pointer}/`) === true))
}

/** The control of a field. */
export function Control ({ draft, ...props }: ControlProps) {
  return isGroup(draft) ? <GroupControl {...props} draft={draft} /> : <SingleControl {...props} draft={draft} />
}

/** The choice of null, for a value that may be null. */
function NullBox ({ label, isNull, onNull }: { label: string, isNull: boolean, onNull: (isNull: boolean) => void }) {
  const { say } = useSpeech()
  return (
    <Checkbox
      label={<><span class='visually-hidden'>{label}: </span>{say('user.null')}</>}
      checked={isNull}
      onChecked={onNull}
    />
  )
}

function GroupControl ({ name, schema, pointer, draft, faults, onDraft }: ControlProps<Group>) {
  const { sayFault } = useSpeech()
  const { kind, isNullable, isNull, members } = draft
  const fault = faultAt(faults, pointer, false)
  const label = labelOf(name, schema)
  return (
    <fieldset>
      <legend>{label}</legend>
      {fault !== undefined && <p class='fault'>{sayFault(fault)}</p>}
      {isNullable && <NullBox label={label} isNull={isNull} onNull={(on) => onDraft({ ...draft, isNull: on })} />}
      {!isNull && Object.entries(members).map(([inner, member]) => (
        <Control
          key={inner}
          name={inner}
          schema={kind.properties[inner] ?? {}}
          pointer={pointerOf(pointer, inner)}
          draft={member}
          faults={faults}
          onDraft={(changed) => onDraft({ ...draft, members: { ...members, [inner]: changed } })}
        />
      ))}
    </fieldset>
  )
}

function SingleControl (props: ControlProps<Single>) {
  const { name, schema, draft, onDraft } = props
  const hasBox = draft.isNullable && !['choice', 'flag', 'json'].includes(draft.kind.is)
  if (!hasBox) return <ValueControl {...props} />
  return (
    <>
      <ValueControl {...props} />
      <NullBox
        label={labelOf(name, schema)}
        isNull={isDraftNull(draft)}
        onNull={(isNull) => onDraft({ ...draft, text: isNull ? null : '' })}
      />
    </>
  )
}

function ValueControl ({ name, schema, pointer, draft, faults, onDraft }: ControlProps<Single>) {
  const speech = useSpeech()
  const { say, sayFault } = speech
  const { kind, isNullable, isRequired } = draft
  const value = draft.text ?? ''
  const onValue = (text: string): void => onDraft({ ...draft, text })
  const found = faultAt(faults, pointer, true)
  const label = labelOf(name, schema)
  const own = schema['description']
  const words = [
    typeof own === 'string' ? own : '',
    hintOf(kind, schema, speech)
  ].filter((each) => each !== '').join(' ')
  const common = {
    label,
    isRequired: isRequired && !isNullable,
    ...(words !== '' && { hint: words }),
    ...(found !== undefined && { fault: sayFault(found, value) })
  }
  const line = { ...common, name: pointer, value, onValue }
  const notSet = isRequired && value !== '' ? [] : [['', say('page.notSet')] as const]
  switch (kind.is) {
    case 'choice': return (
      <SelectField
        {...line}
        options={[
          ...notSet,
          ...kind.choices.map((choice) =>
            [JSON.stringify(choice), typeof choice === 'string' ? choice : JSON.stringify(choice)] as const)
        ]}
      />
    )
    case 'flag': return isRequired && !isNullable && value !== ''
      ? (
        <div class='field'>
          <Checkbox label={label} checked={value === 'true'} onChecked={(on) => onValue(String(on))} />
          {words !== '' && <p class='hint'>{words}</p>}
          {found !== undefined && <p class='fault'>{sayFault(found)}</p>}
        </div>
        )
      : (
        <SelectField
          {...line}
          options={[
            ...notSet,
            ['true', say('page.yes')],
            ['false', say('page.no')],
            ...isNullable ? [['null', 'null'] as const] : []
          ]}
        />
        )
    case 'number': return <TextField {...line} inputMode='decimal' dir='ltr' />
    case 'date': return <TextField {...line} type='date' />
    case 'moment': return (
      <TextField
        {...line}
        type='datetime-local'
        step={1}
        value={toLocal(value)}
        onValue={(local) => onValue(fromLocal(local))}
      />
    )
    case 'text': if (!kind.isLong) return <TextField {...line} inputMode={kind.inputMode} />
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
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}
