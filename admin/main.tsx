import { render } from 'preact'
import type { Texts } from '../lib/admin/texts.ts'
import { App } from './app.tsx'
import { createSpeech, SpeechContext } from './state/texts.ts'

/** What the server says about the page, before anybody signs in. */
interface Settings {
  api: string
  session: { signIn?: string } | null
  language: string
  direction: 'ltr' | 'rtl'
  texts: Texts
}

async function start (root: HTMLElement): Promise<void> {
  const response = await fetch(new URL('settings.json', document.baseURI))
  if (!response.ok) throw new Error(`settings.json: ${response.status}`)
  const settings: Settings = await response.json()
  const { language, direction, session } = settings
  const texts = session === null
    ? settings.texts
    : { ...settings.texts, 'error.invalid_api_key': settings.texts['error.session'] }
  document.documentElement.lang = language
  document.documentElement.dir = direction
  const speech = createSpeech(texts, language)
  document.title = speech.say('page.title')
  render(
    <SpeechContext.Provider value={speech}>
      <App api={settings.api} session={session} />
    </SpeechContext.Provider>,
    root
  )
}

const root = document.getElementById('page')
if (root !== null) {
  start(root).catch(() => { root.textContent = 'This page could not be loaded. Reload it to try again.' })
}
