/** The path of a program; undefined if the machine has none. */
export function programPath (name: string): string | undefined

/** The path of the browser; undefined if the machine has none. */
export function browserPath (): string | undefined
