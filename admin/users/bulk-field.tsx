import type { Capabilities, Fault, JsonObject } from '../api/types.ts'
import { isObject } from '../api/types.ts'
import { createdValue, type Draft, newDraft } from '../form/draft.ts'
import { FieldsForm } from '../form/fields-form.tsx'
import { labelOf } from '../form/kinds.ts'
import { SelectField } from '../parts/field.tsx'
import { useSpeech } from '../state/texts.ts'

/** One of the host's fields, and what is typed for it. */
export interface FieldChange { name: string, begun: Draft, draft: Draft }

type Properties = Capabilities['fields']['properties']

function changeOf (properties: Properties, name: string): FieldChange {
  const schema = { type: 'object', properties: { [name]: properties[name] ?? {} }, additionalProperties: false }
  const begun = newDraft(JSON.parse(JSON.stringify(schema)), true)
  return { name, begun, draft: begun }
}

/** A change of the first field; null if users have none. */
export function firstChange (properties: Properties): FieldChange | null {
  const [name] = Object.keys(properties)
  return name === undefined ? null : changeOf(properties, name)
}

/** The merge patch that sets the field, or removes it where nothing is typed. */
export function patchOf ({ name, begun, draft }: FieldChange): JsonObject {
  const made = createdValue(begun, draft)
  return { [name]: isObject(made) ? made[name] ?? null : null }
}

/** The choice of a field, and its control. */
export function FieldChooser ({ properties, change, faults, onChange }: {
  properties: Properties
  change: FieldChange
  faults: readonly Fault[]
  onChange: (change: FieldChange) => void
}) {
  const { say } = useSpeech()
  return (
    <>
      <SelectField
        label={say('bulk.field')}
        value={change.name}
        options={Object.entries(properties).map(([name, schema]) => [name, labelOf(name, schema)])}
        onValue={(name) => onChange(changeOf(properties, name))}
      />
      <FieldsForm
        key={change.name}
        draft={change.draft}
        faults={faults}
        onDraft={(draft) => onChange({ ...change, draft })}
      />
    </>
  )
}
