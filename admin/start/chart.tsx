import { useState } from 'preact/hooks'
import { hrefOf, navigate } from '../state/route.ts'
import { useSpeech } from '../state/texts.ts'
import { createdIn, type SignUps } from './sign-ups.ts'

const HEIGHT = 100
const STEP = 10
const GAP = 2
/** Less would not be seen. */
const LOWEST = 2

/** A round number at the top of the axis: no bar is higher, and half of it is whole too. */
function topOf (most: number): number {
  const size = 10 ** Math.floor(Math.log10(Math.max(1, most)))
  return [2, 4, 6, 8, 10, 20].map((each) => each * size).find((each) => each >= most) ?? most
}

/**
 * Bars of sign-ups: a picture, with a table for screen readers. The arrow keys move an invisible slider from bar to
 * bar, and Enter opens the users of a bar, as a click does.
 */
export function Chart ({ label, signUps: { isByWeek, bars } }: { label: string, signUps: SignUps }) {
  const { say, day, span, number } = useSpeech()
  const [current, setCurrent] = useState(bars.length - 1)
  const [isPointed, setPointed] = useState(false)
  const most = Math.max(0, ...bars.map(({ count }) => count))
  const top = topOf(most)
  const nameOf = (i: number): string => {
    const bar = bars[i]
    if (bar === undefined) return ''
    return isByWeek ? span(bar.from, bar.to) : day(bar.from.toISOString())
  }
  const countOf = (i: number): string => say('users.total', { count: bars[i]?.count ?? 0 })
  const part = (current + 0.5) / bars.length * 100
  const place = document.documentElement.dir === 'rtl' ? 100 - part : part
  const words = `${nameOf(current)}: ${countOf(current)}`
  const go = (): void => {
    const bar = bars[current]
    if (bar !== undefined) navigate(hrefOf(['users'], new URLSearchParams(createdIn(bar.from, bar.to))))
  }
  return (
    <div class={isPointed ? 'chart pointed' : 'chart'}>
      <input
        type='range'
        class='visually-hidden'
        aria-label={label}
        aria-valuetext={words}
        min={0}
        max={bars.length - 1}
        value={current}
        onInput={(event) => setCurrent(Number(event.currentTarget.value))}
        onKeyDown={({ key }) => { if (key === 'Enter') go() }}
      />
      <div class='plot'>
        <span class='mark-top hint' aria-hidden='true'>{number(top)}</span>
        <span class='mark-half hint' aria-hidden='true'>{number(top / 2)}</span>
        <svg
          role='img'
          aria-label={label}
          viewBox={`0 0 ${bars.length * STEP} ${HEIGHT}`}
          preserveAspectRatio='none'
          onPointerLeave={() => setPointed(false)}
        >
          <path class='grid-line' d={`M0 .5H${bars.length * STEP}M0 ${HEIGHT / 2}H${bars.length * STEP}`} />
          {bars.map(({ count }, i) => {
            const height = count === 0 ? 0 : Math.max(LOWEST, count / top * HEIGHT)
            const point = (): void => {
              setCurrent(i)
              setPointed(true)
            }
            return (
              <g key={i} class={i === current ? 'bar-of current' : 'bar-of'} onPointerEnter={point} onClick={go}>
                <rect class='room' x={i * STEP} width={STEP} height={HEIGHT} />
                <rect x={i * STEP + GAP / 2} y={HEIGHT - height} width={STEP - GAP} height={height} />
              </g>
            )
          })}
        </svg>
        <p
          class='tooltip'
          aria-hidden='true'
          // Within the plot: at its ends it does not go beyond them.
          style={{ left: `${place}%`, transform: `translateX(-${place}%)` }}
        >
          {words}
        </p>
      </div>
      <p class='axis hint' aria-hidden='true'>
        <span>{bars[0] !== undefined && day(bars[0].from.toISOString())}</span>
        <span>{say(isByWeek ? 'start.mostOfWeek' : 'start.mostOfDay', { count: most })}</span>
        <span>{say('start.today')}</span>
      </p>
      <table class='visually-hidden'>
        <caption>{label}</caption>
        <tbody>
          {bars.map((bar, i) => (
            <tr key={bar.from.getTime()}><th scope='row'>{nameOf(i)}</th><td>{countOf(i)}</td></tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
