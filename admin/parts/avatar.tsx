/** The first letters of the first and the last word of a name. */
function initialsOf (name: string): string {
  const words = name.trim().split(/\s+/)
  return [...new Set([words[0], words[words.length - 1]])].map((word = '') => [...word][0] ?? '').join('').toUpperCase()
}

/** Stands beside a name, which says who it is. */
export function Avatar ({ name }: { name: string }) {
  return <span class='avatar' aria-hidden='true'>{initialsOf(name)}</span>
}
