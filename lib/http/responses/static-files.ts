import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { hidden } from '../../openapi/hidden.ts'

const compress = promisify(gzip)

/** A file that is served from memory, as it is and compressed. */
interface ServedFile {
  type: string
  plain: Buffer
  zipped: Buffer
  etag: string
}

export async function servedFile (type: string, content: string | Buffer): Promise<ServedFile> {
  const plain = Buffer.from(content)
  const etag = createHash('sha256').update(plain).digest('base64url').slice(0, 22)
  return { type, plain, zipped: await compress(plain, { level: 9 }), etag }
}

/** True if the client takes gzip (RFC 9110 section 12.5.3). */
function takesGzip (accepted: string | undefined): boolean {
  return /(?:^|,)\s*(?:x-)?gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[\d.]+\s*)?(?:,|$)/i.test(accepted ?? '')
}

function isCurrent (condition: string | undefined, etag: string): boolean {
  const names = condition?.split(',').map((each) => each.trim().replace(/^W\//, '')) ?? []
  return names.includes(etag) || condition?.trim() === '*'
}

/** Sends a file, or 304 to a client that has it. */
function sendFile (request: FastifyRequest, reply: FastifyReply, file: ServedFile): FastifyReply {
  const zips = takesGzip(request.headers['accept-encoding'])
  // A strong tag names one representation (RFC 9110 section 8.8.3).
  const etag = `"${file.etag}${zips ? '-gzip' : ''}"`
  reply.headers({ etag, vary: 'Accept-Encoding', 'cache-control': 'no-cache' })
  if (isCurrent(request.headers['if-none-match'], etag)) return reply.code(304).send()
  if (zips) reply.header('content-encoding', 'gzip')
  return reply.type(file.type).send(zips ? file.zipped : file.plain)
}

/**
 * Routes a file. Of a path that ends with a slash, the one without it leads there, by a relative reference: what a page
 * refers to is relative to its directory.
 */
export function serveFile (
  scope: FastifyInstance,
  path: string,
  file: ServedFile,
  headers: Readonly<Record<string, string>>
): void {
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    reply.headers(headers)
    const asked = request.url.replace(/[?#].*/, '')
    if (path.endsWith('/') && !asked.endsWith('/')) {
      // A segment may look like an absolute reference, such as `https:example.org` (RFC 3986 section 4.2).
      return reply.redirect(`./${asked.slice(asked.lastIndexOf('/') + 1)}/`, 308)
    }
    return sendFile(request, reply, file)
  }
  // Fastify's own HEAD gives a 304 a Content-Length of 0 (RFC 9110 section 8.6).
  scope.get(path, { config: hidden, exposeHeadRoute: false }, async (request, reply) => answer(request, reply))
  scope.head(path, { config: hidden }, async (request, reply) => answer(request, reply))
}
