import type { MarkdownRenderer } from 'vitepress'

/** What installs packages with npm, as the two others say it. */
const MANAGERS = [
  ['npm', (line: string) => line],
  ['pnpm', (line: string) => line.replace(/^npm install /, 'pnpm add ')],
  ['yarn', (line: string) => line.replace(/^npm install /, 'yarn add ')]
] as const
const INSTALLS = /^npm install [^-\n][^\n]*\n$/
let groups = 0

/**
 * Has the site show what GitHub shows of the same files: diagrams, and pictures of public/ by their relative path.
 * Beside npm it has other package managers, in tabs.
 */
export function configureMarkdown (markdown: MarkdownRenderer): void {
  const { fence, image } = markdown.renderer.rules
  markdown.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index]
    if (token?.info.trim() === 'mermaid') return `<MermaidDiagram source="${encodeURIComponent(token.content)}" />`
    const render = (): string => fence?.(tokens, index, options, env, self) ?? ''
    if (token === undefined || token.info.trim() !== 'sh' || !INSTALLS.test(token.content)) return render()
    const [group, line] = [`install-${++groups}`, token.content]
    const tabs = MANAGERS.map(([name], i) =>
      `<input type="radio" name="${group}" id="${group}-${name}"${i === 0 ? ' checked' : ''}>` +
      `<label data-title="${name}" for="${group}-${name}">${name}</label>`)
    const blocks = MANAGERS.map(([, say], i) => {
      token.content = say(line)
      token.info = i === 0 ? 'sh active' : 'sh'
      return render()
    })
    return `<div class="vp-code-group"><div class="tabs">${tabs.join('')}</div>` +
      `<div class="blocks">${blocks.join('')}</div></div>`
  }
  markdown.renderer.rules.image = (tokens, index, options, env, self) => {
    const token = tokens[index]
    token?.attrSet('src', token.attrGet('src')?.replace(/^\.\/public\//, '/') ?? '')
    return image?.(tokens, index, options, env, self) ?? ''
  }
}
