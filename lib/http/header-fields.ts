import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * The values of all lines of a header field, in order. Node.js keeps only the first line of some fields and joins
 * others, which hides what was sent; the raw lines show it.
 */
export function headerLines (request: FastifyRequest, name: string): string[] {
  const { rawHeaders } = request.raw
  const lines: string[] = []
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const [field = '', value = ''] = [rawHeaders[i], rawHeaders[i + 1]]
    // Most fields differ in length, and need no lower-case copy then.
    if (field.length === name.length && field.toLowerCase() === name) lines.push(value)
  }
  return lines
}

/** The field's value, its lines joined as in RFC 9110 section 5.3; undefined if it was not sent. */
export function header (request: FastifyRequest, name: string): string | undefined {
  const lines = headerLines(request, name)
  return lines.length === 0 ? undefined : lines.join(', ')
}

/** Adds a value to a field of the response, behind what the host has put there. */
export function appendHeader (reply: FastifyReply, name: string, value: string): void {
  const before = reply.getHeader(name)
  reply.header(name, before === undefined ? value : `${String(before)}, ${value}`)
}
