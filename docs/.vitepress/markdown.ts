import type { MarkdownRenderer } from 'vitepress'

/** Has the site show what GitHub shows of the same files: diagrams, and pictures of public/ by their relative path. */
export function configureMarkdown (markdown: MarkdownRenderer): void {
  const { fence, image } = markdown.renderer.rules
  markdown.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index]
    if (token?.info.trim() === 'mermaid') return `<MermaidDiagram source="${encodeURIComponent(token.content)}" />`
    return fence?.(tokens, index, options, env, self) ?? ''
  }
  markdown.renderer.rules.image = (tokens, index, options, env, self) => {
    const token = tokens[index]
    token?.attrSet('src', token.attrGet('src')?.replace(/^\.\/public\//, '/') ?? '')
    return image?.(tokens, index, options, env, self) ?? ''
  }
}
