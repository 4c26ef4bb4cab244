/** Where the machine has a program; undefined where it has none. */
export function programPath (name: string): string | undefined
