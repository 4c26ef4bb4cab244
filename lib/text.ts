/** Whether every store can keep a text unchanged: no lone surrogate (UTF-8 has none), no NUL (PostgreSQL refuses it). */
export function isStorable (text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
