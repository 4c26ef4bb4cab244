// Shorter parts of a token tell too little of it, and would be found in any text.
const PART = 12
// Longer texts are cut off.
const TEXT_MAX = 2000
// Causes of causes.
const DEPTH_MAX = 5

/** The forms in which a text may have a token, in lower case: as it is, in a URL, in hex, and within base64. */
function formsOf (token: string): string[] {
  const shifted = [0, 1, 2].map((n) => Buffer.from(' '.repeat(n) + token))
  const encoded = shifted.flatMap((bytes) => [bytes.toString('base64'), bytes.toString('base64url')])
  return [token, encodeURIComponent(token), Buffer.from(token).toString('hex'), ...encoded]
    .map((form) => form.toLowerCase())
}

/** Makes the function that tells whether a text has a part of a token in it. */
function holdsToken (token: string): (text: string) => boolean {
  const forms = formsOf(token)
  return (text) => {
    const lower = text.toLowerCase()
    return forms.some((form) => {
      for (let at = 0; at === 0 || at + PART <= form.length; at++) {
        if (lower.includes(form.slice(at, at + PART))) return true
      }
      return false
    })
  }
}

/**
 * An error of the host's own check of a token, as the log may have it: name, message, code, place and cause, each
 * without what holds the token. Its other members are left out: they may be the request that a client has sent.
 */
export function withoutToken (error: unknown, token: string): Error {
  const holds = holdsToken(token)

  const shown = (value: unknown, otherwise: string): string => {
    const text = typeof value === 'string' ? value.slice(0, TEXT_MAX) : ''
    return text === '' || holds(text) ? otherwise : text
  }

  function copyOf (original: unknown, depth: number): Error {
    const { name, message, code, stack, cause } = Object(original)
    const hasCause = cause !== undefined && depth < DEPTH_MAX
    const copy = new Error(
      shown(message, 'authenticate threw an error whose message is not shown'),
      hasCause ? { cause: copyOf(cause, depth + 1) } : {}
    )
    copy.name = shown(name, 'Error')
    // Lines of a message may look like places.
    const places = String(stack).replace(String(message), '').split('\n')
      .filter((line) => /^ {4}at /.test(line) && !holds(line))
    copy.stack = [`${copy.name}: ${copy.message}`, ...places].join('\n')
    const shownCode = shown(code, '')
    return shownCode === '' ? copy : Object.assign(copy, { code: shownCode })
  }

  return copyOf(error, 0)
}
