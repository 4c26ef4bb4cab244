/** True if ISO 8601 text names a day that its month has: Date would turn 30 February into 2 March. */
export function isOnCalendar (text: string): boolean {
  return new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDate() === Number(text.slice(8, 10))
}
