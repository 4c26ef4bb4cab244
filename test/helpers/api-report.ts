import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import ts from 'typescript'

const ROOT = join(import.meta.dirname, '..', '..')

/** A declaration without comments, as a user's compiler reads it. */
function textOf (declaration: ts.Declaration): string {
  const printer = ts.createPrinter({ removeComments: true })
  const file = declaration.getSourceFile()
  const isVariable = ts.isVariableDeclaration(declaration) && ts.isVariableStatement(declaration.parent.parent)
  const node = isVariable ? declaration.parent.parent : declaration
  return printer.printNode(ts.EmitHint.Unspecified, node, file).replace(/^export (?:default )?(?:declare )?/, '')
}

/** The members of an interface that only extends a type which is made of something else, such as rows of options. */
function membersOf (checker: ts.TypeChecker, declaration: ts.Declaration): string | null {
  if (!ts.isInterfaceDeclaration(declaration) || declaration.members.length > 0) return null
  const members = checker.getTypeAtLocation(declaration).getProperties().map((member) => {
    const type = checker.typeToString(checker.getTypeOfSymbol(member), declaration, ts.TypeFormatFlags.NoTruncation)
    return `    ${member.name}${member.flags & ts.SymbolFlags.Optional ? '?' : ''}: ${type};`
  })
  return `interface ${declaration.name.text} {\n${members.join('\n').replace(/import\("[^"]+"\)\./g, '')}\n}`
}

/** Everything that a module exports, by name. What an entry before it declares is named only. */
function exportsOf (checker: ts.TypeChecker, file: ts.SourceFile, known: Set<string>): string[] {
  const module = checker.getSymbolAtLocation(file)
  const again: string[] = []
  const texts = (module === undefined ? [] : checker.getExportsOfModule(module))
    .toSorted((a, b) => a.name < b.name ? -1 : 1)
    .flatMap((symbol) => {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
      const texts = (target.declarations ?? []).map((each) => membersOf(checker, each) ?? textOf(each))
      const text = (target.name === symbol.name ? '' : `// ${symbol.name}\n`) + [...new Set(texts)].join('\n')
      if (!known.has(text)) {
        known.add(text)
        return [text]
      }
      again.push(symbol.name)
      return []
    })
  return again.length === 0 ? texts : [`// As above: ${again.join(', ')}`, ...texts]
}

/** What each entry of the built package declares, as Markdown. */
export async function apiReport (): Promise<string> {
  const { name, exports } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  const entries = Object.entries<{ types?: string }>(exports)
    .flatMap(([path, { types }]) => types === undefined ? [] : [{ path, file: join(ROOT, types) }])
  const program = ts.createProgram(entries.map(({ file }) => file), {
    module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, skipLibCheck: true
  })
  const checker = program.getTypeChecker()
  const known = new Set<string>()
  const sections = entries.map(({ path, file }) => {
    const source = program.getSourceFile(file)
    if (source === undefined) throw new Error(`${file} is missing: npm run build`)
    const declared = exportsOf(checker, source, known)
    return `## ${name}${path.slice(1)}\n\n\`\`\`ts\n${declared.join('\n\n')}\n\`\`\`\n`
  })
  const head = '# The surface of the package\n\n' +
    'What each entry exports. `UPDATE=1 npm test -- test/api.test.ts` writes it.\n'
  return [head, ...sections].join('\n')
}
