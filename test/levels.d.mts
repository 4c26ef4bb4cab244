/** True if a level of the suite runs what belongs to another one. */
export function includes (level: string, other: string): boolean
