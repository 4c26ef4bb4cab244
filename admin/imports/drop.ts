import { useEffect, useRef, useState } from 'preact/hooks'

const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') === true

/** Keeps the browser from opening a file that is dropped on the page: the key and what was typed would be gone. */
export function keepFilesOut (): void {
  for (const type of ['dragover', 'drop'] as const) {
    window.addEventListener(type, (event) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      if (event.dataTransfer !== null) event.dataTransfer.dropEffect = 'none'
    })
  }
}

/**
 * Takes a file that is dropped anywhere on the page, and says whether one is over it. `take`: null if none is wanted.
 * Behind a dialog none is, unless the dialog itself asks.
 */
export function useFileDrop (take: ((file: File) => void) | null, isInDialog = false): boolean {
  const [isOver, setOver] = useState(false)
  const latest = useRef(take)
  latest.current = take
  useEffect(() => {
    const taker = (event: DragEvent): typeof take => {
      const isBehind = !isInDialog && document.querySelector('dialog[open]') !== null
      return hasFiles(event) && !isBehind ? latest.current : null
    }
    const over = (event: DragEvent): void => {
      const isWanted = taker(event) !== null
      setOver(isWanted)
      if (isWanted && event.dataTransfer !== null) event.dataTransfer.dropEffect = 'copy'
    }
    const leave = ({ relatedTarget }: DragEvent): void => { if (relatedTarget === null) setOver(false) }
    const drop = (event: DragEvent): void => {
      setOver(false)
      const file = event.dataTransfer?.files[0]
      if (file !== undefined) taker(event)?.(file)
    }
    window.addEventListener('dragover', over)
    window.addEventListener('dragleave', leave)
    window.addEventListener('drop', drop)
    return () => {
      window.removeEventListener('dragover', over)
      window.removeEventListener('dragleave', leave)
      window.removeEventListener('drop', drop)
    }
  }, [])
  return isOver
}

/** Shows a file in its input, as if it had been chosen there. */
export function showIn (input: HTMLInputElement | null | undefined, file: File | undefined): void {
  if (input === null || input === undefined || file === undefined) return
  const files = new DataTransfer()
  files.items.add(file)
  input.files = files.files
}
