/** True on a screen as narrow as that of a phone, where what opens covers the rest. */
export const isNarrow = (): boolean => matchMedia('(max-width: 48rem)').matches
