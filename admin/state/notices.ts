import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

export interface NoticeOptions {
  /** What can be done about it, as a button. */
  action?: { label: string, run: () => void }
  /** True if it is said just before another place is gone to, and is to be read there. */
  isForNext?: boolean
}

/** Says something in passing: shown for a while, at most until the person goes elsewhere. Empty: takes it back. */
export type Notify = (text: string, options?: NoticeOptions) => void

export const NoticeContext = createContext<Notify>(() => {})

export const useNotify = (): Notify => useContext(NoticeContext)
