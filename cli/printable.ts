/** Control, format and separator characters, and lone surrogates: a terminal obeys some of them. */
export const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu

/** Text of somebody else's for one line of a terminal: an escape character is `\u001b`, as in `$'\u001b'` of Bash. */
export function printable (text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16)
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`
  })
}
