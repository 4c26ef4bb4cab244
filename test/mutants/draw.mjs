// Faults of one place each: what a mutant is, and which are drawn of all that the sources could have.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** Where mutants are planted. The kit and the page have tests of another kind: planted mistakes, a browser. */
const SOURCES = ['lib', 'adapters']
const LEFT_OUT = ['adapters/testing/', 'lib/admin/', 'lib/exports.ts']

const BINARY = new Map([
  ['<', '<='], ['<=', '<'], ['>', '>='], ['>=', '>'], ['===', '!=='], ['!==', '==='], ['&&', '||'], ['||', '&&'],
  ['+', '-'], ['-', '+'], ['??', '&&']
])

/** Texts of SQL, and what is turned in them. */
const SQL = /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|WHERE|ORDER BY|ON CONFLICT|RETURNING|CREATE (UNIQUE )?INDEX)\b/
const SQL_CHANGES = [
  [/ AND /g, ' OR '], [/ OR /g, ' AND '], [/ IS NULL/g, ' IS NOT NULL'], [/ IS NOT NULL/g, ' IS NULL'],
  [/ >= /g, ' > '], [/ <= /g, ' < '], [/ > /g, ' >= '], [/ < /g, ' <= '], [/ = /g, ' <> '], [/ ASC\b/g, ' DESC'],
  [/ DESC\b/g, ' ASC'], [/ \+ 1\b/g, ''], [/ FOR UPDATE\b/g, ''], [/ DISTINCT /g, ' '], [/\bUNIQUE /g, ''],
  [/ NOT /g, ' ']
]

const isSource = (file) =>
  file.endsWith('.ts') && !file.endsWith('.d.ts') && !LEFT_OUT.some((path) => file.startsWith(path))

export const sourceFiles = (root) => SOURCES
  .flatMap((directory) => readdirSync(join(root, directory), { recursive: true }).map((name) => join(directory, name)))
  .filter(isSource)
  .sort()

/** The mutants of a file, each as `{ file, line, at, from, to, kind }`: `from` at `at` becomes `to`. */
export function mutantsOf (root, file) {
  const text = readFileSync(join(root, file), 'utf8')
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const found = []
  const add = (kind, at, from, to) => {
    const line = tree.getLineAndCharacterOfPosition(at).line + 1
    found.push({ file, line, at, from, to, kind })
  }
  const replace = (kind, node, to) => add(kind, node.getStart(tree), node.getText(tree), to)

  function visit (node) {
    // Types run nowhere.
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return
    if (ts.isIfStatement(node)) {
      replace('condition', node.expression, `!(${node.expression.getText(tree)})`)
      replace('branch', node.expression, 'false')
      replace('branch', node.expression, 'true')
    } else if (ts.isConditionalExpression(node)) {
      replace('condition', node.condition, `!(${node.condition.getText(tree)})`)
    } else if (ts.isBinaryExpression(node)) {
      const to = BINARY.get(node.operatorToken.getText(tree))
      if (to !== undefined) replace('operator', node.operatorToken, to)
    } else if (ts.isNumericLiteral(node)) {
      replace('bound', node, `(${node.text} + 1)`)
    } else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
      replace('condition', node, node.operand.getText(tree))
    } else if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)) {
      replace('statement', node, '')
    } else if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) {
      const own = node.getText(tree)
      if (SQL.test(own)) {
        for (const [pattern, to] of SQL_CHANGES) {
          for (const match of own.matchAll(pattern)) add('sql', node.getStart(tree) + match.index, match[0], to)
        }
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

/** Numbers from 0 to 1, the same for each seed. */
function numbers (seed) {
  let state = seed
  return () => {
    state = (state + 0x6D2B79F5) | 0
    let n = Math.imul(state ^ (state >>> 15), 1 | state)
    n = (n + Math.imul(n ^ (n >>> 7), 61 | n)) ^ n
    return ((n ^ (n >>> 14)) >>> 0) / 4294967296
  }
}

/** Every mutant of the sources. */
export const allMutants = (root) => sourceFiles(root).flatMap((file) => mutantsOf(root, file))

/** As many of the mutants as are asked for, a sixth of them in texts of SQL; of each sort each is as likely. */
export function draw (all, count, seed) {
  const next = numbers(seed)
  const some = (mutants, n) =>
    Array.from({ length: Math.min(n, mutants.length) }, () => mutants.splice(Math.floor(next() * mutants.length), 1)[0])
  const inSql = Math.round(count / 6)
  return [
    ...some(all.filter(({ kind }) => kind === 'sql'), inSql),
    ...some(all.filter(({ kind }) => kind !== 'sql'), count - inSql)
  ]
}
