import neostandard from 'neostandard'

const { plugin } = neostandard.plugins['typescript-eslint']

export default [
  ...neostandard({ ts: true, ignores: ['dist', '.build', '.tap', 'data', 'examples/typed-client/api.d.ts'] }),
  {
    files: ['**/*.ts'],
    plugins: { '@typescript-eslint': plugin },
    rules: {
      // A type is found out or checked, never claimed.
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/consistent-type-assertions': ['error', { assertionStyle: 'never' }],
      '@typescript-eslint/ban-ts-comment': 'error'
    }
  }
]
