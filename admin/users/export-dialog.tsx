import { useEffect, useRef, useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { Alert } from '../parts/feedback.tsx'
import { save } from '../parts/save.ts'
import { useNotify } from '../state/notices.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { exportedInParts, type Format, recordCounter } from './export.ts'

// A blob that the browser can keep on disk is made of parts this large.
const PART_BYTES = 1024 * 1024
// Spreadsheets would not read UTF-8 without a byte order mark.
const MARK = '\uFEFF'
/** What is done by then shows no progress. */
const PAUSE_MS = 400

/** Which users are saved, as the API is asked for them, one request after the other, and how many they are. */
export interface Exporting { filters: ReadonlyArray<Readonly<Record<string, string>>>, total: number, format: Format }

/** Saves users as a file, and shows how far it is if that takes long. */
export function ExportDialog ({ filters, total, format, onClose }: Exporting & { onClose: () => void }) {
  const { say } = useSpeech()
  const { client } = useSession()
  const notify = useNotify()
  const [isLong, setLong] = useState(false)
  const [done, setDone] = useState(0)
  const [error, setError] = useState<unknown>(null)
  const controller = useRef(new AbortController())

  async function start ({ signal }: AbortController): Promise<void> {
    const count = recordCounter(format)
    const blobs: Blob[] = format === 'csv' ? [new Blob([MARK])] : []
    let part: Uint8Array<ArrayBuffer>[] = []
    let inPart = 0
    let users = 0
    try {
      for await (const bytes of exportedInParts(client, filters, format, signal)) {
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
      onClose()
      notify(say('export.done', { done: users }))
    } catch (error) {
      if (!signal.aborted) return setError(error)
      onClose()
      notify(say('export.cancelled'))
    }
  }

  useEffect(() => {
    const timer = setTimeout(() => setLong(true), PAUSE_MS)
    start(controller.current)
    return () => {
      clearTimeout(timer)
      controller.current.abort()
    }
  }, [])
  const cancel = (): void => {
    if (error !== null) onClose()
    else controller.current.abort()
  }

  if (!isLong && error === null) return null
  return (
    <Dialog title={say('export.title')} onClose={cancel}>
      <Alert error={error} />
      {error === null && (
        <>
          <progress value={done} max={Math.max(total, done)} aria-label={say('export.title')} />
          <p>{say('export.progress', { done, count: total })}</p>
        </>
      )}
      <div class='bar'>
        <button type='button' onClick={cancel}>{say(error === null ? 'page.cancel' : 'page.close')}</button>
      </div>
    </Dialog>
  )
}
