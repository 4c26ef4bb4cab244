import neostandard from 'neostandard'
import { boundaries } from './scripts/lint-boundaries.js'

const { plugin } = neostandard.plugins['typescript-eslint']

export default [
  ...neostandard({
    ts: true,
    ignores: [
      'dist', '.build', '.tap', 'data', 'examples/typed-client/api.d.ts',
      'docs/.vitepress/dist', 'docs/.vitepress/cache'
    ]
  }),
  {
    files: ['**/*.{ts,tsx,js,mjs,cjs}'],
    rules: { '@stylistic/max-len': ['error', { code: 120 }] }
  },
  {
    files: ['**/*.{ts,tsx,js,mjs,cjs}'],
    rules: { 'max-lines': ['error', 250] }
  },
  {
    // Texts are in one file, so that a translator has one.
    files: ['lib/admin/texts.ts'],
    rules: { 'max-lines': 'off' }
  },
  {
    files: ['**/*.{ts,tsx}'],
    plugins: { '@typescript-eslint': plugin },
    rules: {
      // A type is inferred or checked, never claimed.
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/consistent-type-assertions': ['error', { assertionStyle: 'never' }],
      '@typescript-eslint/ban-ts-comment': 'error'
    }
  },
  ...boundaries
]
