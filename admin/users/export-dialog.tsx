import { useEffect, useRef, useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { Alert } from '../parts/feedback.tsx'
import { SelectField } from '../parts/field.tsx'
import { save } from '../parts/save.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { exported, type Format, recordCounter } from './export.ts'
import { filterQuery, type ListState } from './query.ts'

// A blob that the browser can keep on disk is made of parts this large.
const PART_BYTES = 1024 * 1024
// Spreadsheets would not read UTF-8 without a byte order mark.
const MARK = '\uFEFF'

interface ExportDialogProps {
  state: ListState
  total: number
  onClose: () => void
}

/** Saves all users that match the filters as a file. */
export function ExportDialog ({ state, total, onClose }: ExportDialogProps) {
  const { say } = useSpeech()
  const { client } = useSession()
  const [format, setFormat] = useState<Format>('csv')
  const [done, setDone] = useState<number | null>(null)
  const [end, setEnd] = useState<'done' | 'cancelled' | null>(null)
  const [error, setError] = useState<unknown>(null)
  const controller = useRef<AbortController | null>(null)
  useEffect(() => () => controller.current?.abort(), [])

  async function start (): Promise<void> {
    const { signal } = controller.current = new AbortController()
    const count = recordCounter(format)
    const blobs: Blob[] = format === 'csv' ? [new Blob([MARK])] : []
    let part: Uint8Array<ArrayBuffer>[] = []
    let inPart = 0
    let users = 0
    setError(null)
    setEnd(null)
    setDone(0)
    try {
      for await (const bytes of exported(client, filterQuery(state), format, signal)) {
        users = count(bytes)
        part.push(bytes)
        inPart += bytes.length
        if (inPart >= PART_BYTES) {
          blobs.push(new Blob(part))
          part = []
          inPart = 0
        }
        setDone(users)
      }
      const type = format === 'csv' ? 'text/csv;charset=utf-8' : 'application/x-ndjson'
      save(new Blob([...blobs, ...part], { type }), `users-${new Date().toISOString().slice(0, 10)}.${format}`)
      setEnd('done')
    } catch (error) {
      if (signal.aborted) setEnd('cancelled')
      else setError(error)
    } finally {
      controller.current = null
    }
  }

  const isBusy = done !== null && end === null && error === null
  return (
    <Dialog title={say('export.title')} onClose={onClose}>
      <p>{say('export.help', { count: total })}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) start()
        }}
      >
        <SelectField
          label={say('export.format')}
          value={format}
          options={[['csv', say('export.csv')], ['ndjson', say('export.ndjson')]]}
          onValue={(value) => setFormat(value === 'csv' ? value : 'ndjson')}
        />
        <Alert error={error} />
        {isBusy && (
          <>
            <progress value={done} max={Math.max(total, done)} aria-label={say('export.title')} />
            <p>{say('export.progress', { done, count: total })}</p>
          </>
        )}
        {end !== null && <p role='status'>{say(`export.${end}`, { done: done ?? 0 })}</p>}
        <div class='bar'>
          {/* Keys: a button that turned into the other one while it is clicked would start again. */}
          {isBusy
            ? (
              <button key='cancel' type='button' onClick={() => controller.current?.abort()}>
                {say('page.cancel')}
              </button>
              )
            : <button key='start' type='submit' class='primary'>{say('export.start')}</button>}
          <button type='button' onClick={onClose}>{say('page.close')}</button>
        </div>
      </form>
    </Dialog>
  )
}
