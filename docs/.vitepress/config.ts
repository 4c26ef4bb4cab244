import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitepress'
import { checkAnchors } from './check-anchors.ts'
import { githubSlug } from './github-slug.ts'
import { configureMarkdown } from './markdown.ts'
import { type Description, referenceTitles } from './reference.ts'

const REPOSITORY = 'https://github.com/fastify-users/fastify-users'
/** The path that the site is served under, with a slash at either end. */
const base = process.env['DOCS_BASE'] ?? '/'

const read = (path: string) => JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'))
const { version }: { version: string } = read('package.json')
const description: Description = read('openapi.json')

const groups = {
  Start: {
    'Getting started': 'getting-started',
    'Common tasks': 'common-tasks',
    'When not to use it': 'when-not-to-use',
    Comparison: 'comparison'
  },
  Use: {
    'HTTP API': 'http-api',
    'In process': 'in-process',
    Client: 'client',
    'Agents (MCP)': 'mcp',
    'The life of a user': 'life-of-a-user',
    'API keys': 'api-keys',
    Authentication: 'authentication',
    'Your own fields': 'your-own-fields',
    Transactions: 'transactions',
    'Import and export': 'import-export',
    'Adopting a table': 'adopting',
    'The event log': 'events',
    Webhooks: 'webhooks',
    'Administration page': 'admin',
    Groups: 'groups',
    SCIM: 'scim',
    Okta: 'okta',
    'Entra ID': 'entra-id',
    'Google Workspace': 'google-workspace',
    Tenants: 'tenants',
    'Row-level security': 'row-level-security',
    'Several mounts': 'several-mounts',
    'Testing your app': 'testing',
    'Bundling and testing': 'bundling'
  },
  Operate: {
    Storages: 'storages',
    Scaling: 'scaling',
    Operations: 'operations',
    Monitoring: 'monitoring',
    'Backup and restore': 'backup',
    'Lost keys': 'lost-keys',
    'Rotating the pepper': 'pepper',
    'Command line': 'command-line',
    Upgrading: 'upgrading'
  },
  Understand: {
    Architecture: 'architecture',
    'Exact counting': 'exact-counting',
    Performance: 'performance',
    Reliability: 'reliability'
  },
  Reference: {
    Options: 'options',
    Errors: 'errors',
    'Writing an adapter': 'writing-an-adapter'
  },
  'HTTP API, by operation': Object.fromEntries(
    referenceTitles(description).map(({ page, title }) => [title, `reference/${page}`])
  ),
  Project: {
    Changelog: 'reference/changelog',
    Security: 'reference/security'
  }
}

export default defineConfig({
  base,
  lang: 'en-GB',
  title: 'fastify-users',
  description: 'User management as a Fastify plugin: an authenticated REST API for your users, in your own database',
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}logo.svg` }]],
  ignoreDeadLinks: false,
  lastUpdated: true,
  buildEnd: checkAnchors,
  markdown: {
    config: configureMarkdown,
    anchor: { slugify: githubSlug },
    // Contrast of at least 4.5 on the ground of code.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark' }
  },
  // Mermaid is large, and loaded by the pages alone that have a diagram.
  vite: { build: { chunkSizeWarningLimit: 1000 } },
  themeConfig: {
    logo: '/logo.svg',
    nav: [
      { text: 'Getting started', link: '/getting-started' },
      { text: 'HTTP API', link: '/http-api' },
      { text: 'Operations', link: '/reference/users' },
      { text: 'Options', link: '/options' },
      {
        text: `Version ${version}`,
        items: [
          { text: 'Changelog', link: '/reference/changelog' },
          { text: 'Upgrading', link: '/upgrading' },
          { text: 'Security', link: '/reference/security' }
        ]
      }
    ],
    sidebar: Object.entries<Record<string, string>>(groups).map(([text, pages]) => ({
      text,
      ...(text.startsWith('HTTP') && { collapsed: true }),
      items: Object.entries(pages).map(([title, page]) => ({ text: title, link: `/${page}` }))
    })),
    outline: [2, 3],
    search: { provider: 'local' },
    editLink: { pattern: `${REPOSITORY}/edit/main/docs/:path`, text: 'Edit this page on GitHub' },
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    footer: { message: `Version ${version}, MIT licence` }
  }
})
