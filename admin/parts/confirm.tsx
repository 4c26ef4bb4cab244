import type { ComponentChildren } from 'preact'
import { useSpeech } from '../state/texts.ts'
import { Dialog } from './dialog.tsx'
import { Alert, useAction } from './feedback.tsx'

interface ConfirmProps {
  title: string
  /** What is done, on the button. */
  submit: string
  isDanger?: boolean
  run: () => Promise<void>
  onClose: () => void
  children: ComponentChildren
}

/** Asks before something is done. */
export function Confirm ({ title, submit, isDanger = false, run, onClose, children }: ConfirmProps) {
  const { say } = useSpeech()
  const action = useAction()
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          action.run(run)
        }}
      >
        {children}
        <Alert error={action.error} />
        <div class='bar'>
          <button type='submit' class={isDanger ? 'danger' : 'primary'} disabled={action.isBusy}>{submit}</button>
          <button type='button' autofocus={isDanger} onClick={onClose}>{say('page.cancel')}</button>
        </div>
      </form>
    </Dialog>
  )
}
