import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { PageSettings } from '../../lib/admin/page-settings.ts'

/** What the server says about the page, before anybody signs in. */
export type Settings = PageSettings

export const SettingsContext = createContext<Settings | null>(null)

export function useSettings (): Settings {
  const settings = useContext(SettingsContext)
  if (settings === null) throw new Error('there are no settings')
  return settings
}
