/** A line that says how far something is, on a terminal. */
export interface Progress {
  /** `done`: how many are done; `part`: how much of all that is, from 0 to 1, if it is known. */
  show (done: number, part: number | null): void
  /** Takes the line away. */
  clear (): void
}

const EVERY_MS = 200
const BAR_LENGTH = 24
const CLEAR_LINE = '\r\u001b[K'

/** 75 seconds as `1:15`. */
function clock (seconds: number): string {
  const whole = Math.ceil(seconds)
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  const text = `${String(minutes).padStart(hours > 0 ? 2 : 1, '0')}:${String(whole % 60).padStart(2, '0')}`
  return hours > 0 ? `${hours}:${text}` : text
}

/** How far it is, in words: `########----  33 %  1,200 users  600/s  0:04 left`. */
export function progressText (done: number, part: number | null, seconds: number): string {
  const rate = seconds > 0 ? done / seconds : 0
  const counted = `${done.toLocaleString('en')} users  ${Math.round(rate).toLocaleString('en')}/s`
  if (part === null) return counted
  const filled = Math.round(part * BAR_LENGTH)
  const bar = '#'.repeat(filled).padEnd(BAR_LENGTH, '-')
  const left = part > 0 ? `  ${clock(seconds / part - seconds)} left` : ''
  return `${bar}  ${Math.floor(part * 100)} %  ${counted}${left}`
}

/** Shows progress on a terminal, a few times a second; elsewhere nothing. */
export function createProgress (stream: NodeJS.WriteStream): Progress {
  const begun = performance.now()
  let shown = -Infinity
  return {
    show (done, part) {
      const now = performance.now()
      if (!stream.isTTY || now - shown < EVERY_MS) return
      shown = now
      stream.write(CLEAR_LINE + progressText(done, part, (now - begun) / 1000))
    },
    clear: () => {
      if (stream.isTTY && shown !== -Infinity) stream.write(CLEAR_LINE)
    }
  }
}
