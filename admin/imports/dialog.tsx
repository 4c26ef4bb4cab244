import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../api/error.ts'
import { labelOf } from '../form/kinds.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Alert } from '../parts/feedback.tsx'
import { Field, SelectField } from '../parts/field.tsx'
import { useGuard } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import type { Selected } from '../users/bulk.ts'
import { userSchema } from '../users/schema.ts'
import { Columns } from './columns.tsx'
import { importFile, type Imported, isTable, type OnConflict } from './import.ts'
import { guess, isMappable, type Mapping, unused, written } from './mapping.ts'
import { Refused } from './refused.tsx'
import { headerOf } from './table-file.ts'

type Phase = 'choosing' | 'checking' | 'checked' | 'importing' | 'imported'

interface ImportDialogProps {
  onClose: (isChanged: boolean) => void
  /** Called with the users that were created, to delete them again. */
  onUndo: (created: readonly Selected[]) => void
}

/** A file, and for a table its columns. */
interface Chosen { file: File, columns: readonly string[] | null }

/** Imports users from a file, after it was checked: nothing is written before. */
export function ImportDialog ({ onClose, onUndo }: ImportDialogProps) {
  const speech = useSpeech()
  const { say, sayError, sayFault } = speech
  const { client, can, capabilities } = useSession()
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const [mapping, setMapping] = useState<Mapping>({})
  const [onConflict, setOnConflict] = useState<OnConflict>('fail')
  const [phase, setPhase] = useState<Phase>('choosing')
  const [result, setResult] = useState<Imported | null>(null)
  const [error, setError] = useState<unknown>(null)
  const controller = useRef(new AbortController())
  const latest = useRef<File | undefined>(undefined)
  // What was imported before an end stays.
  const hasBegun = useRef(false)
  const isBusy = phase === 'checking' || phase === 'importing'
  useEffect(() => () => controller.current.abort(), [])
  useGuard(() => phase !== 'importing', say('import.leave'))

  /** What is wrong with a line or with the header. */
  const words = (error: unknown): string => error instanceof ApiError && error.faults.length > 0
    ? error.faults.map((fault) => `${fault.pointer ?? ''} ${sayFault(fault)}`.trim()).join(' ')
    : sayError(error)
  const forget = (): void => {
    setPhase('choosing')
    setResult(null)
    setError(null)
  }
  const properties = Object.entries(Object(userSchema(capabilities, speech)['properties']))
  const labels = Object.fromEntries(properties.map(([name, schema]) => [name, labelOf(name, Object(schema))]))
  async function choose (file: File | undefined): Promise<void> {
    forget()
    setChosen(null)
    latest.current = file
    if (file === undefined) return
    const columns = isTable(file.name) ? await headerOf(file).catch(() => null) : null
    // Another one was chosen meanwhile.
    if (latest.current !== file) return
    setMapping(columns === null ? {} : guess(columns.filter(isMappable), Object.keys(labels)))
    setChosen({ file, columns })
  }
  const ignored = chosen?.columns == null ? [] : unused(mapping, chosen.columns)
  const map = chosen?.columns == null ? '' : written(mapping, chosen.columns)
  async function send ({ file }: Chosen, isDry: boolean): Promise<void> {
    const { signal } = controller.current = new AbortController()
    setPhase(isDry ? 'checking' : 'importing')
    setError(null)
    if (!isDry) hasBegun.current = true
    try {
      setResult(await importFile(client, file, {
        onConflict, isDry, map: map === '' && ignored.length === 0 ? null : map, signal
      }))
      setPhase(isDry ? 'checked' : 'imported')
    } catch (error) {
      setPhase('choosing')
      setResult(null)
      setError(signal.aborted ? say('import.stopped') : words(error))
    }
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    if (chosen === null) setError(say('import.noFile'))
    else if (!isBusy) send(chosen, true)
  }
  const close = (): void => {
    if (phase === 'importing') controller.current.abort()
    else onClose(hasBegun.current)
  }
  const isEnd = phase === 'imported'
  return (
    <Dialog title={say('import.title')} onClose={close}>
      <form
        noValidate
        onSubmit={submit}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault()
          const files = event.dataTransfer?.files
          if (isBusy || isEnd || files === undefined) return
          const input = event.currentTarget.querySelector<HTMLInputElement>('input[type=file]')
          if (input !== null) input.files = files
          choose(files[0])
        }}
      >
        {!isEnd && (
          <>
            <Field label={say('import.file')} hint={say('import.fileHelp')} isRequired>
              {(control) => (
                <input
                  {...control}
                  type='file'
                  accept='.csv,.tsv,.txt,.ndjson,.jsonl'
                  disabled={isBusy}
                  onChange={(event) => { choose(event.currentTarget.files?.[0]) }}
                />
              )}
            </Field>
            {chosen?.columns != null && (
              <details open={map !== '' || ignored.length > 0}>
                <summary>{say('import.columns')}</summary>
                <Columns
                  columns={chosen.columns}
                  mapping={mapping}
                  labels={labels}
                  onMapping={(mapping) => {
                    setMapping(mapping)
                    forget()
                  }}
                />
                {ignored.length > 0 && <p class='hint'>{say('import.ignored', { columns: ignored.join(', ') })}</p>}
              </details>
            )}
            <SelectField
              label={say('import.onConflict')}
              value={onConflict}
              options={[
                ['fail', say('import.fail')], ['skip', say('import.skip')], ['update', say('import.update')]
              ]}
              onValue={(value) => {
                setOnConflict(value === 'skip' || value === 'update' ? value : 'fail')
                forget()
              }}
            />
          </>
        )}
        <Alert error={error} />
        {isBusy && <progress aria-label={say(`import.${phase}`)} />}
        <p role='status'>
          {isBusy && say(`import.${phase}`)}
          {result !== null && !isBusy && say(isEnd ? 'import.done' : 'import.would', { ...result.counts })}
        </p>
        {result !== null && result.refused.length > 0 && chosen !== null && (
          <Refused
            file={chosen.file}
            isTable={chosen.columns !== null}
            refused={result.refused}
            wordsOf={words}
          />
        )}
        <div class='bar'>
          {/* Two buttons: one that turned into the other while it is clicked would import unseen. */}
          {!isEnd && (
            <>
              <button type='submit' class={phase === 'checked' ? '' : 'primary'} disabled={isBusy}>
                {say('import.check')}
              </button>
              <button
                type='button'
                class={phase === 'checked' ? 'primary' : ''}
                disabled={phase !== 'checked' || chosen === null}
                onClick={() => { if (chosen !== null) send(chosen, false) }}
              >
                {say('import.start')}
              </button>
            </>
          )}
          {isEnd && result !== null && result.created.length > 0 && can('users:delete') && (
            <button
              type='button'
              class='danger'
              onClick={() => onUndo(result.created.map((id) => ({ id, name: id, status: 'active' })))}
            >
              {say('import.undo')}
            </button>
          )}
          <button type='button' onClick={close}>
            {say(phase === 'importing' ? 'bulk.stop' : isEnd ? 'page.close' : 'page.cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
