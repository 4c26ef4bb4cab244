import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

/** Says something in passing: shown for a while, and read out by screen readers. */
export type Notify = (text: string) => void

export const NoticeContext = createContext<Notify>(() => {})

export const useNotify = (): Notify => useContext(NoticeContext)
