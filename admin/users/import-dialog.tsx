import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../api/error.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Alert } from '../parts/feedback.tsx'
import { Field, SelectField } from '../parts/field.tsx'
import { useGuard } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { importFile, type Imported, type OnConflict } from './import.ts'

type Phase = 'choosing' | 'checking' | 'checked' | 'importing' | 'imported'

/** Imports users from a file, after it was checked: nothing is written before. */
export function ImportDialog ({ onClose }: { onClose: (isChanged: boolean) => void }) {
  const { say, sayError, sayFault } = useSpeech()
  const { client } = useSession()
  const [file, setFile] = useState<File | null>(null)
  const [onConflict, setOnConflict] = useState<OnConflict>('fail')
  const [phase, setPhase] = useState<Phase>('choosing')
  const [result, setResult] = useState<Imported | null>(null)
  const [error, setError] = useState<unknown>(null)
  const controller = useRef(new AbortController())
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
  async function send (chosen: File, isDry: boolean): Promise<void> {
    const { signal } = controller.current = new AbortController()
    setPhase(isDry ? 'checking' : 'importing')
    setError(null)
    if (!isDry) hasBegun.current = true
    try {
      setResult(await importFile(client, chosen, { onConflict, isDry, signal }))
      setPhase(isDry ? 'checked' : 'imported')
    } catch (error) {
      setPhase('choosing')
      setResult(null)
      setError(signal.aborted ? say('import.stopped') : words(error))
    }
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    if (file === null) setError(say('import.noFile'))
    else if (!isBusy) send(file, true)
  }
  const close = (): void => {
    if (phase === 'importing') controller.current.abort()
    else onClose(hasBegun.current)
  }
  const isEnd = phase === 'imported'
  return (
    <Dialog title={say('import.title')} onClose={close}>
      <form noValidate onSubmit={submit}>
        {!isEnd && (
          <>
            <Field label={say('import.file')} hint={say('import.fileHelp')} isRequired>
              {(control) => (
                <input
                  {...control}
                  type='file'
                  accept='.csv,.tsv,.txt,.ndjson,.jsonl'
                  disabled={isBusy}
                  onChange={(event) => {
                    setFile(event.currentTarget.files?.[0] ?? null)
                    forget()
                  }}
                />
              )}
            </Field>
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
        {result !== null && result.refused.length > 0 && (
          <>
            <h3>{say('bulk.refused')}</h3>
            <ul class='refused'>
              {result.refused.map(({ line, error }) => (
                <li key={line}>{say('import.line', { line })}: <bdi>{words(error)}</bdi></li>
              ))}
            </ul>
          </>
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
                disabled={phase !== 'checked' || file === null}
                onClick={() => { if (file !== null) send(file, false) }}
              >
                {say('import.start')}
              </button>
            </>
          )}
          <button type='button' onClick={close}>
            {say(phase === 'importing' ? 'bulk.stop' : isEnd ? 'page.close' : 'page.cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
