import { type ComponentChildren, h } from 'preact'
import { useId } from 'preact/hooks'
import { cutSecret } from '../state/pasted.ts'
import { useSpeech } from '../state/texts.ts'

/** What a control needs to be described by its label, hint and fault. */
export interface ControlProps {
  id: string
  'aria-describedby'?: string
  'aria-invalid'?: 'true'
  'aria-required'?: 'true'
}

interface FieldProps {
  label: string
  hint?: string | undefined
  fault?: string | undefined
  isRequired?: boolean
  children: (control: ControlProps) => ComponentChildren
}

/** A control with its label, its hint, and what is wrong with it. */
export function Field ({ label, hint, fault, isRequired = false, children }: FieldProps) {
  const { say } = useSpeech()
  const id = useId()
  const described = [hint === undefined ? '' : `${id}-hint`, fault === undefined ? '' : `${id}-fault`]
    .filter((each) => each !== '').join(' ')
  return (
    <div class='field'>
      <label for={id}>
        {label}
        {isRequired && <span class='required' aria-hidden='true'> {say('page.required')}</span>}
      </label>
      {children({
        id,
        ...(described !== '' && { 'aria-describedby': described }),
        ...(fault !== undefined && { 'aria-invalid': 'true' }),
        ...(isRequired && { 'aria-required': 'true' })
      })}
      {hint !== undefined && <p class='hint' id={`${id}-hint`}>{hint}</p>}
      {fault !== undefined && <p class='fault' id={`${id}-fault`}>{fault}</p>}
    </div>
  )
}

interface TextFieldProps {
  type?: 'text' | 'search' | 'url' | 'password' | 'date' | 'datetime-local'
  inputMode?: 'text' | 'email' | 'url' | 'decimal' | 'numeric'
  name?: string
  dir?: 'ltr' | 'auto'
  step?: number
  placeholder?: string
  /** The id of a list of suggestions. */
  list?: string
  label: string
  hint?: string | undefined
  fault?: string | undefined
  isRequired?: boolean
  value: string
  onValue: (value: string) => void
  /** The text goes into the query of a request: a key that is pasted loses its secret. */
  isQuery?: boolean
  /** Called when the focus leaves it, with true if a date in it is typed in part. */
  onLeave?: (isPartial: boolean) => void
}

/** One line of text. Its direction follows what is typed. */
export function TextField (props: TextFieldProps) {
  const { type = 'text', dir = 'auto', label, hint, fault, isRequired = false, value, onValue } = props
  const { inputMode, name, step, placeholder, list, isQuery = false, onLeave } = props
  return (
    <Field label={label} hint={hint} fault={fault} isRequired={isRequired}>
      {(control) => {
        const common = {
          ...control,
          ...(inputMode !== undefined && { inputMode }),
          ...(name !== undefined && { name }),
          ...(step !== undefined && { step }),
          ...(placeholder !== undefined && { placeholder }),
          ...(list !== undefined && { list }),
          dir,
          value,
          spellcheck: false,
          autocomplete: 'off',
          onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
            onValue(isQuery ? cutSecret(currentTarget) : currentTarget.value),
          onBlur: (event: { currentTarget: HTMLInputElement }) => onLeave?.(event.currentTarget.validity.badInput)
        } as const
        // JSX has another interface for each type of input.
        return h('input', { ...common, type })
      }}
    </Field>
  )
}

interface SelectProps {
  label: string
  hint?: string | undefined
  fault?: string | undefined
  isRequired?: boolean
  value: string
  /** Values, with what is shown for them. */
  options: ReadonlyArray<readonly [string, string]>
  onValue: (value: string) => void
}

export function SelectField ({ label, hint, fault, isRequired = false, value, options, onValue }: SelectProps) {
  return (
    <Field label={label} hint={hint} fault={fault} isRequired={isRequired}>
      {(control) => (
        <select {...control} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
          {options.map(([each, text]) => <option key={each} value={each} selected={each === value}>{text}</option>)}
        </select>
      )}
    </Field>
  )
}

/** A few values, one of which is chosen by one click. */
export function RadioField ({ label, fault, value, options, onValue }: Omit<SelectProps, 'hint' | 'isRequired'>) {
  const id = useId()
  return (
    <fieldset class='radios' {...(fault !== undefined && { 'aria-describedby': `${id}-fault` })}>
      <legend>{label}</legend>
      {options.map(([each, text]) => (
        <label key={each}>
          <input type='radio' name={id} checked={each === value} onChange={() => onValue(each)} />
          <bdi>{text}</bdi>
        </label>
      ))}
      {fault !== undefined && <p class='fault' id={`${id}-fault`}>{fault}</p>}
    </fieldset>
  )
}

interface CheckboxProps {
  label: ComponentChildren
  checked: boolean
  onChecked: (checked: boolean) => void
  disabled?: boolean
}

export function Checkbox ({ label, checked, onChecked, disabled = false }: CheckboxProps) {
  return (
    <label class='check'>
      <input
        type='checkbox'
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChecked(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  )
}
