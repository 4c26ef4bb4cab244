import type { FastifyRequest } from 'fastify'

/**
 * The values of every line of a header field, in order. Node keeps only the first of some repeated fields and joins others, which hides
 * what was really sent; the raw lines don't.
 */
export function headerLines (request: FastifyRequest, name: string): string[] {
  const { rawHeaders } = request.raw
  const lines: string[] = []
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const [field = '', value = ''] = [rawHeaders[i], rawHeaders[i + 1]]
    // Most fields differ in length: that spares each request a lower-case copy of them all.
    if (field.length === name.length && field.toLowerCase() === name) lines.push(value)
  }
  return lines
}

/** The field's value: its lines joined as RFC 9110 section 5.3 says, or undefined where it was not sent. */
export function header (request: FastifyRequest, name: string): string | undefined {
  const lines = headerLines(request, name)
  return lines.length === 0 ? undefined : lines.join(', ')
}
