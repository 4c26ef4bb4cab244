import { useRef, useState } from 'preact/hooks'
import { hrefOf } from '../state/route.ts'
import { useSpeech } from '../state/texts.ts'
import { createdIn, type SignUps } from './sign-ups.ts'

const HEIGHT = 100
const STEP = 10
const GAP = 2
/** Less would not be seen. */
const LOWEST = 2

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 }

/** Bars of sign-ups. Each leads to its users; arrows go from one to the next, so that Tab passes them as one. */
export function Chart ({ label, signUps: { isByWeek, bars } }: { label: string, signUps: SignUps }) {
  const { say, day, span } = useSpeech()
  const [current, setCurrent] = useState(bars.length - 1)
  const element = useRef<SVGSVGElement>(null)
  const most = Math.max(1, ...bars.map(({ count }) => count))
  const press = (event: KeyboardEvent): void => {
    const isTurned = document.documentElement.dir === 'rtl'
    const step = (STEPS[event.key] ?? 0) * (isTurned ? -1 : 1)
    const next = event.key === 'Home' ? 0 : event.key === 'End' ? bars.length - 1 : current + step
    const bar = element.current?.querySelectorAll<SVGAElement>('a')[next]
    if (next === current || bar === undefined) return
    event.preventDefault()
    setCurrent(next)
    bar.focus()
  }
  return (
    <div class='chart'>
      <svg
        ref={element}
        role='group'
        aria-label={label}
        viewBox={`0 0 ${bars.length * STEP} ${HEIGHT}`}
        preserveAspectRatio='none'
        onKeyDown={press}
      >
        {bars.map(({ from, to, count }, i) => {
          const height = count === 0 ? 0 : Math.max(LOWEST, count / most * HEIGHT)
          const words = `${isByWeek ? span(from, to) : day(from.toISOString())}: ${say('users.total', { count })}`
          const href = hrefOf(['users'], new URLSearchParams(createdIn(from, to)))
          return (
            <a key={i} href={href} aria-label={words} tabindex={i === current ? 0 : -1} onFocus={() => setCurrent(i)}>
              <title>{words}</title>
              <rect class='room' x={i * STEP} width={STEP} height={HEIGHT} />
              <rect x={i * STEP + GAP / 2} y={HEIGHT - height} width={STEP - GAP} height={height} />
            </a>
          )
        })}
      </svg>
      <p class='axis hint'>
        <span>{bars[0] !== undefined && day(bars[0].from.toISOString())}</span>
        <span>{say(isByWeek ? 'start.mostOfWeek' : 'start.mostOfDay', { count: most })}</span>
        <span>{say('start.today')}</span>
      </p>
    </div>
  )
}
