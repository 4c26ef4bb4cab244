import { render } from 'preact'
import { App } from './app.tsx'
import { keepFilesOut } from './imports/drop.ts'
import { guardDoubleClicks } from './state/settled.ts'
import { type Settings, SettingsContext } from './state/settings.ts'
import { createSpeech, SpeechContext } from './state/texts.ts'

async function start (root: HTMLElement): Promise<void> {
  const response = await fetch(new URL('settings.json', document.baseURI))
  if (!response.ok) throw new Error(`settings.json: ${response.status}`)
  const settings: Settings = await response.json()
  const { language, direction, session, title, logo } = settings
  const texts = session === null
    ? settings.texts
    : { ...settings.texts, 'error.invalid_api_key': settings.texts['error.session'] }
  document.documentElement.lang = language
  document.documentElement.dir = direction
  if (logo !== null) document.querySelector('link[rel=icon]')?.setAttribute('href', logo)
  const speech = createSpeech(texts, language)
  document.title = title ?? `${speech.say('page.title')} · ${location.host}`
  render(
    <SettingsContext.Provider value={settings}>
      <SpeechContext.Provider value={speech}>
        <App />
      </SpeechContext.Provider>
    </SettingsContext.Provider>,
    root
  )
}

keepFilesOut()
const root = document.getElementById('page')
if (root !== null) {
  guardDoubleClicks()
  start(root).catch(() => { root.textContent = 'This page could not be loaded. Reload it to try again.' })
}
