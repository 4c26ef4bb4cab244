import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { Alert } from '../parts/feedback.tsx'
import { Field, SelectField } from '../parts/field.tsx'
import { hrefOf, useGuard } from '../state/route.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import type { Selected } from '../users/bulk.ts'
import { Columns } from './columns.tsx'
import { showIn, useFileDrop } from './drop.ts'
import { EncodingField, isUnicode } from './encoding.tsx'
import { importFile, type Imported, isTable, type OnConflict } from './import.ts'
import { withoutMembers } from './json-lines.ts'
import { guess, isMappable, type Mapping, unused, written } from './mapping.ts'
import { Refused } from './refused.tsx'
import { beginningOf, type Table, tableOf } from './table-file.ts'
import { useFaultWords } from './words.ts'

const NEWEST_FIRST = new URLSearchParams({ sort: '-createdAt' })

type Phase = 'choosing' | 'checking' | 'checked' | 'importing' | 'imported'

interface ImportDialogProps {
  /** The file to begin with, such as one that was dropped on the list. */
  file: File | undefined
  onClose: (isChanged: boolean) => void
  /** Called with the users that were created. */
  onImported: (created: readonly Selected[]) => void
  /** Called when they are to be deleted again. */
  onUndo: () => void
}

/** A file, how it is divided if it is a table, and which members of its lines were left out. */
interface Chosen { file: File, table: Table | null, left: readonly string[] }

/** Imports users from a file, after it was checked: nothing is written before. */
export function ImportDialog ({ file: dropped, onClose, onImported, onUndo }: ImportDialogProps) {
  const { say } = useSpeech()
  const { client, can } = useSession()
  const { labels, words } = useFaultWords()
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const [mapping, setMapping] = useState<Mapping>({})
  const [onConflict, setOnConflict] = useState<OnConflict>('fail')
  const [phase, setPhase] = useState<Phase>('choosing')
  const [result, setResult] = useState<Imported | null>(null)
  const [answered, setAnswered] = useState(0)
  const [error, setError] = useState<unknown>(null)
  const form = useRef<HTMLFormElement>(null)
  const controller = useRef(new AbortController())
  const latest = useRef<File | undefined>(undefined)
  // A file that is in no encoding of Unicode.
  const [foreign, setForeign] = useState<File | null>(null)
  // What was imported before an end stays.
  const hasBegun = useRef(false)
  const isBusy = phase === 'checking' || phase === 'importing'
  useEffect(() => () => controller.current.abort(), [])
  useGuard(() => phase !== 'importing', say('import.leave'))

  // The button that began it is disabled: the focus goes to what came of it, and the next button comes into view too.
  useLayoutEffect(() => {
    if (phase === 'choosing') return
    form.current?.querySelector('.bar:last-child')?.scrollIntoView({ block: 'nearest' })
    form.current?.querySelector<HTMLElement>('[role=status]')?.focus()
  }, [phase])
  useLayoutEffect(() => {
    if (error !== null) form.current?.querySelector<HTMLElement>('[type=submit]')?.focus()
  }, [error])

  const forget = (): void => {
    setPhase('choosing')
    setResult(null)
    setError(null)
  }
  async function choose (file: File | undefined): Promise<void> {
    forget()
    setChosen(null)
    setForeign(null)
    latest.current = file
    if (file === undefined) return
    const beginning = await beginningOf(file).catch(() => '')
    // Another one was chosen meanwhile.
    if (latest.current !== file) return
    if (beginning === null) return setError(say('import.notText'))
    const isForeign = !await isUnicode(file).catch(() => true)
    if (latest.current !== file) return
    if (isForeign) return setForeign(file)
    // The reasons of lines that were refused before: the server takes no such member.
    const reason = say('import.reason')
    const mended = isTable(file.name) ? null : await withoutMembers(file, beginning, reason).catch(() => null)
    if (latest.current === file) read(mended ?? file, beginning, mended === null ? [] : [reason])
  }
  function read (file: File, beginning: string, left: readonly string[] = []): void {
    const table = isTable(file.name) ? tableOf(beginning) : null
    // The same columns again keep what was chosen for them.
    if (table === null || table.columns.join('\n') !== chosen?.table?.columns.join('\n')) {
      setMapping(table === null ? {} : guess(table.columns.filter(isMappable), Object.keys(labels)))
    }
    setChosen({ file, table, left })
  }
  const input = (): HTMLInputElement | null | undefined => form.current?.querySelector('input[type=file]')
  const take = (file: File): void => {
    showIn(input(), file)
    choose(file)
  }
  useEffect(() => { if (dropped !== undefined) take(dropped) }, [])
  const isOver = useFileDrop(isBusy || phase === 'imported' ? null : take, true)
  const columns = chosen?.table?.columns
  const ignored = columns === undefined ? chosen?.left ?? [] : unused(mapping, columns)
  const map = columns === undefined ? '' : written(mapping, columns)
  const hasOwnNames = columns === undefined || (map === '' && ignored.length === 0)
  async function send ({ file }: Chosen, isDry: boolean): Promise<void> {
    const { signal } = controller.current = new AbortController()
    setPhase(isDry ? 'checking' : 'importing')
    setError(null)
    setAnswered(0)
    if (!isDry) hasBegun.current = true
    try {
      const result = await importFile(client, file, {
        onConflict, isDry, map: hasOwnNames ? null : map, signal, onProgress: setAnswered
      })
      setResult(result)
      if (!isDry) onImported(result.created.map((user) => ({ ...user, name: user.id, status: 'active' })))
      setPhase(isDry ? 'checked' : 'imported')
    } catch (error) {
      setPhase('choosing')
      setResult(null)
      setError(signal.aborted ? say('import.stopped') : words(error))
    }
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    const missing = foreign === null ? 'import.noFile' : 'import.noEncoding'
    if (chosen === null) setError((error: unknown) => error ?? say(missing))
    else if (!isBusy) send(chosen, true)
  }
  const close = (): void => phase === 'importing' ? controller.current.abort() : onClose(hasBegun.current)
  const isEnd = phase === 'imported'
  const total = result === null ? 0 : Object.values(result.counts).reduce((sum, count) => sum + count, 0)
  const progress = phase === 'importing' ? { value: Math.min(answered, total), max: total } : {}
  const isReady = phase === 'checked' && result !== null && result.counts.created + result.counts.updated > 0
  return (
    <Dialog title={say('import.title')} look={columns === undefined ? undefined : 'wide'} onClose={close}>
      <form ref={form} class={isOver ? 'drop over' : 'drop'} noValidate onSubmit={submit}>
        {!isEnd && (
          <>
            <Field label={say('import.file')} hint={say('import.fileHelp')} isRequired>
              {(control) => (
                <input
                  {...control}
                  type='file'
                  accept='.csv,.tsv,.txt,.ndjson,.jsonl'
                  disabled={isBusy}
                  // Else a file that is chosen once more, after it was mended, would be no change.
                  onClick={(event) => { event.currentTarget.value = '' }}
                  onCancel={() => showIn(input(), latest.current)}
                  onChange={(event) => { choose(event.currentTarget.files?.[0]) }}
                />
              )}
            </Field>
            {foreign !== null && (
              <EncodingField
                file={foreign}
                onFile={(file, beginning) => {
                  forget()
                  setChosen(null)
                  if (file !== null) read(file, beginning)
                }}
              />
            )}
            {columns !== undefined && (
              <Columns
                columns={columns}
                rows={chosen?.table?.rows ?? []}
                mapping={mapping}
                isOpen={!hasOwnNames}
                labels={labels}
                onMapping={(mapping) => {
                  setMapping(mapping)
                  forget()
                }}
              />
            )}
            {ignored.length > 0 && <p class='hint'>{say('import.ignored', { columns: ignored.join(', ') })}</p>}
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
        {isBusy && <progress {...progress} aria-label={say(`import.${phase}`)} />}
        <p role='status' tabIndex={-1}>
          {isBusy && say(`import.${phase}`)}
          {phase === 'importing' && ` ${say('bulk.progress', { done: Math.min(answered, total), count: total })}`}
          {result !== null && !isBusy && say(isEnd ? 'import.done' : 'import.would', { ...result.counts })}
        </p>
        {result !== null && result.refused.length > 0 && chosen !== null && (
          <Refused
            file={chosen.file}
            table={chosen.table}
            from={mapping['name'] ?? []}
            refused={result.refused}
            wordsOf={words}
          />
        )}
        <div class='bar'>
          {/* Two buttons: one that turned into the other while it is clicked would import unseen. */}
          {!isEnd && (
            <>
              <button type='submit' class={isReady ? '' : 'primary'} disabled={isBusy}>
                {say('import.check')}
              </button>
              <button
                type='button'
                class={isReady ? 'primary' : ''}
                disabled={!isReady || chosen === null}
                onClick={() => { if (chosen !== null) send(chosen, false) }}
              >
                {say('import.start')}
              </button>
            </>
          )}
          {isEnd && result !== null && result.created.length > 0 && can('users:read') && (
            <a class='button' href={hrefOf(['users'], NEWEST_FIRST)} onClick={close}>{say('import.show')}</a>
          )}
          {isEnd && result !== null && result.created.length > 0 && can('users:delete') && (
            <button
              type='button'
              class='danger'
              onClick={onUndo}
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
