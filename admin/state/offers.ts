import { useEffect, useRef } from 'preact/hooks'

/** What a view can do with what it shows, for the palette. */
export interface Offer {
  key: string
  label: string
  run: () => void
}

const shown = new Set<{ current: readonly Offer[] }>()

/** What the views that are shown can do. */
export const offered = (): Offer[] => [...shown].flatMap(({ current }) => current)

/** Has the palette offer these while the view is shown. */
export function useOffers (offers: readonly Offer[]): void {
  const latest = useRef(offers)
  latest.current = offers
  useEffect(() => {
    shown.add(latest)
    return () => { shown.delete(latest) }
  }, [])
}
