import { Agent, request } from 'node:http'

/** The version of a user, from the entity tag of an answer. */
export const versionOf = ({ etag }) => etag === undefined ? undefined : Number(etag.slice(1, -1))

/** The connections of one client to one service. */
export function openClient (origin, key) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const authorization = `Bearer ${key}`

  /**
   * Sends a request: its status, headers and JSON body. Rejects with the error of the connection, or `ETIMEDOUT` after
   * `ms` milliseconds.
   */
  function send (method, path, { headers = {}, body, ms = 20_000 } = {}) {
    const text = body === undefined ? undefined : JSON.stringify(body)
    return new Promise((resolve, reject) => {
      const sent = request(origin + path, {
        agent,
        method,
        headers: {
          authorization,
          ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
          ...headers
        }
      }, (response) => {
        let received = ''
        response.setEncoding('utf8')
        response.on('data', (chunk) => { received += chunk })
        response.on('error', fail)
        response.on('end', () => {
          clearTimeout(timer)
          if (!response.complete) return reject(Object.assign(new Error('cut off'), { code: 'ECONNRESET' }))
          try {
            resolve({
              status: response.statusCode,
              headers: response.headers,
              body: received === '' ? null : JSON.parse(received)
            })
          } catch (error) {
            reject(error)
          }
        })
      })
      function fail (error) {
        clearTimeout(timer)
        reject(error)
      }
      const timer = setTimeout(() => {
        sent.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' }))
      }, ms)
      sent.on('error', fail)
      sent.end(text)
    })
  }

  return { send, close: () => agent.destroy() }
}
