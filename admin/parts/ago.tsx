import { useSpeech } from '../state/texts.ts'

/** How long ago a moment is, or how far ahead; the exact one as a tooltip. */
export function Ago ({ moment, isShort = false }: { moment: string, isShort?: boolean }) {
  const { ago, time } = useSpeech()
  return <time dateTime={moment} title={`${time(moment)} (${moment})`}>{ago(moment, isShort)}</time>
}
