import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useGuard } from '../state/route.ts'
import { type TextName, useSpeech } from '../state/texts.ts'
import { Dialog } from './dialog.tsx'
import { CopyButton } from './feedback.tsx'

interface SecretDialogProps {
  title: string
  label: TextName
  help: TextName
  text: string
  onClose: () => void
}

/** A secret that is shown once, with a button to copy it. Whoever has not copied it is asked before it is gone. */
export function SecretDialog ({ title, label, help, text, onClose }: SecretDialogProps) {
  const { say } = useSpeech()
  const [isCopied, setCopied] = useState(false)
  const element = useRef<HTMLDivElement>(null)
  const question = isCopied ? undefined : say('page.closeSecret')
  useGuard(() => isCopied, say('page.closeSecret'))
  useLayoutEffect(() => element.current?.querySelector('button')?.focus(), [])
  return (
    <Dialog title={title} confirmClose={question} onClose={onClose}>
      <div ref={element} class='secret' role='status' onCopy={() => setCopied(true)}>
        <p><strong>{say(help)}</strong></p>
        <p>
          <span class='visually-hidden'>{say(label)}: </span>
          <code>{text}</code>
          <CopyButton what={say(label)} text={text} onCopied={() => setCopied(true)} />
        </p>
      </div>
      <button
        type='button'
        onClick={() => { if (question === undefined || window.confirm(question)) onClose() }}
      >
        {say('page.close')}
      </button>
    </Dialog>
  )
}
