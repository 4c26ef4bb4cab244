// Spreadsheets take a cell that begins so for a formula (OWASP, CSV injection).
const FORMULA = /^'*[=+\-@\t\r]/
const MADE_HARMLESS = /^'+[=+\-@\t\r]/

/** A cell that no spreadsheet takes for a formula: with one `'` before it, of which it may have some already. */
export function harmless (cell: string): string {
  return FORMULA.test(cell) ? `'${cell}` : cell
}

/** The cell that {@link harmless} was given. */
export function asWritten (cell: string): string {
  return MADE_HARMLESS.test(cell) ? cell.slice(1) : cell
}
