// Scripts and styles of the reference page, as its server sends them.

/**
 * Runs in the browser, before Swagger UI starts: follows the colours of the system, and shows how each operation is
 * called with curl. The key stands there as `$KEY`: pages are shown to others and photographed.
 */
export const script = String.raw`
const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()

const quoted = (text) => "'" + text.replaceAll("'", "'\\''") + "'"

function curl ({ method, url, headers, body }) {
  const verb = method.toUpperCase()
  const lines = [verb === 'GET' ? 'curl ' + quoted(url) : 'curl -X ' + verb + ' ' + quoted(url)]
  lines.push('-H "Authorization: Bearer $KEY"')
  for (const [name, value] of headers) {
    if (!/^(authorization|accept)$/i.test(name)) lines.push('-H ' + quoted(name + ': ' + value))
  }
  if (body !== undefined) lines.push('-d ' + quoted(body))
  return lines.join(' \\\n  ')
}

function plugin ({ React: { createElement }, fn, getConfigs, specSelectors }) {
  const shown = (text) => createElement('div', { className: 'own-curl' },
    createElement('h4', null, 'curl'), createElement('pre', { tabIndex: 0 }, text))

  /** An operation with the examples of its description. */
  function example (path, method, operation) {
    const content = operation.getIn(['requestBody', 'content'])
    const type = content?.keySeq().first()
    const schema = content?.getIn([type, 'schema'])?.toJS()
    const given = content?.getIn([type, 'example'])
    const sample = given?.toJS?.() ?? given ?? (schema && fn.getSampleSchema(schema, type ?? '', {}))
    return curl({
      method,
      url: location.origin + path,
      headers: type === undefined ? [] : [['Content-Type', type]],
      body: sample === undefined ? undefined : typeof sample === 'string' ? sample : JSON.stringify(sample)
    })
  }

  return {
    wrapComponents: {
      parameters: (Original) => (props) => createElement('div', null,
        shown(example(props.pathMethod[0], props.pathMethod[1], props.operation)), createElement(Original, props)),
      // What was sent.
      curl: () => ({ request }) => shown(curl({
        method: request.get('method'),
        url: request.get('url'),
        headers: [...request.get('headers')?.entries() ?? []],
        body: typeof request.get('body') === 'string' ? request.get('body') : undefined
      }))
    }
  }
}

const start = window.SwaggerUIBundle
window.SwaggerUIBundle = Object.assign((config) => start({ ...config, plugins: [...config.plugins, plugin] }), start)
`

/** The operations come first: what introduces them is short, and what is long in it folds. */
export const style = `
.swagger-ui .info { margin: 1.5rem 0 0 }
.swagger-ui .info hgroup.main { margin: 0 0 .5rem }
.swagger-ui .info hgroup.main .link { display: none }
.swagger-ui .scheme-container { margin: 0; padding: .5rem 0; background: none; box-shadow: none }
.swagger-ui .schemes-server-container, .swagger-ui .servers-title, .swagger-ui .servers { display: none }
.swagger-ui details { margin: .5rem 0 }
.swagger-ui summary { cursor: pointer }
.own-curl { padding: 1rem 1.25rem }
.own-curl h4 { margin: 0 0 .25rem; font: 700 .75rem/1.5 sans-serif }
.own-curl pre {
  margin: 0; padding: .75rem 1rem; border-radius: 4px; overflow: auto; background: #22272e; color: #f0f3f6;
  font: .8125rem/1.5 ui-monospace, monospace
}
html.dark-mode { background: #1c2022; color-scheme: dark }
.dark-mode .own-curl h4 { color: #e4e6e6 }
@media (max-width: 40rem) { .swagger-ui .wrapper { padding: 0 .75rem } }
`
