import type { Texts } from './texts.ts'

/** What the page reads before anybody signs in. */
export interface PageSettings {
  /** Where the API is, relative to the page. */
  api: string
  session: { signIn?: string } | null
  title: string | null
  /** A `data:` URL. */
  logo: string | null
  language: string
  direction: 'ltr' | 'rtl'
  texts: Texts
}
