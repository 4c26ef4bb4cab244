// The built command line, which runs one command after the other in this process: a process for each takes half a
// second. Prints its address. A request has the variables of a command, an empty text, and its arguments, each ended by
// a zero byte. The answer is what a shell evaluates to get the same output and exit code.
import { createServer } from 'node:http'
import { join } from 'node:path'

const PROGRAM = join(import.meta.dirname, '..', '..', '..', 'dist', 'cli', 'main.js')
let count = 0

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`

/** Takes what is written to a stream until it is given back. */
function capture (stream) {
  const { write } = stream
  const chunks = []
  stream.write = (chunk, ...rest) => {
    chunks.push(Buffer.from(chunk))
    rest.findLast((each) => typeof each === 'function')?.()
    return true
  }
  return () => {
    stream.write = write
    return Buffer.concat(chunks).toString()
  }
}

/** Gives this process the variables of a command, and no others. */
function useVariables (variables) {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, variables)
}

async function run (request) {
  const words = request.split('\0').slice(0, -1)
  const end = words.indexOf('')
  const variables = Object.fromEntries(words.slice(0, end).map((each) => each.split(/=(.*)/s)))
  useVariables(variables)
  process.chdir(variables.PWD)
  process.argv.splice(2, Infinity, ...words.slice(end + 1))
  process.exitCode = undefined
  let written = []
  const release = [process.stdout, process.stderr].map(capture)
  try {
    // With another query it is another module, which runs the command that is in the arguments now.
    await import(`${PROGRAM}?${++count}`)
  } finally {
    written = release.map((each) => each())
    // What ends with a process of its own.
    for (const event of ['SIGINT', 'SIGTERM']) process.removeAllListeners(event)
    for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error')
  }
  const [out, err] = written.map(quoted)
  return `printf %s ${out}; printf %s ${err} >&2; (exit ${process.exitCode ?? 0})`
}

let last = Promise.resolve()
const server = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const answer = last.then(() => run(Buffer.concat(chunks).toString()))
  last = answer.catch(() => {})
  response.end(await answer)
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}/\n`)
})
