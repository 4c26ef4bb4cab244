// Tables and times of the command line, on a terminal and elsewhere.
import { test } from 'tap'
import { commandFirst } from '../../cli/common.ts'
import { tableOf } from '../../cli/table.ts'
import { agoText, terminalOf, toned } from '../../cli/terminal.ts'

const NOWHERE = { columns: null, hasColours: false }
const heads = ['ID', 'NAME', 'STATE', 'NOTE', 'CREATED']
const rows = [
  ['usr_1', '山田 太郎', { text: 'revoked', tone: 'bad' }, 'a note that is longer than the rest', { text: 'today' }],
  ['usr_2', 'Ann\u001b[31m', { text: 'active' }, '-', { text: '2 days ago' }]
] as const

test('a table is aligned by what characters take on the screen, and whole outside of a terminal', async (t) => {
  t.equal(tableOf({ heads, rows }, NOWHERE), [
    'ID     NAME       STATE    NOTE                                 CREATED',
    'usr_1  山田 太郎  revoked  a note that is longer than the rest  today',
    'usr_2  Ann?[31m   active   -                                    2 days ago'
  ].join('\n'))
})

test('a table fits its terminal: long texts are cut, and columns that can be spared left out', async (t) => {
  const spare = ['NOTE', 'CREATED']
  const narrow = (columns: number) => tableOf({ heads, rows, spare }, { columns, hasColours: false })
  t.equal(narrow(60), [
    'ID     NAME       STATE    NOTE                   CREATED',
    'usr_1  山田 太郎  revoked  a note that is longe…  today',
    'usr_2  Ann?[31m   active   -                      2 days ago'
  ].join('\n'))
  t.equal(narrow(40), [
    'ID     NAME       STATE    CREATED',
    'usr_1  山田 太郎  revoked  today',
    'usr_2  Ann?[31m   active   2 days ago'
  ].join('\n'))
  t.equal(narrow(10).split('\n')[1], 'usr_1  山田 太郎  revoked', 'what cannot be cut is whole')
  t.equal(tableOf({ heads: ['ID', 'NAME'], rows: [['1', '山田太郎花子次郎']] }, { columns: 13, hasColours: false }),
    'ID  NAME\n1   山田太郎…', 'half a character is none')
})

test('colours are shown on a terminal that has them, unless NO_COLOR or FORCE_COLOR says otherwise', async (t) => {
  const stream = (isTTY: boolean): NodeJS.WriteStream =>
    Object.assign(Object.create(process.stdout), { isTTY, columns: 80, hasColors: () => true })
  const has = (isTTY: boolean, env: NodeJS.ProcessEnv) => terminalOf(stream(isTTY), env).hasColours
  t.strictSame([has(true, {}), has(false, {})], [true, false])
  t.strictSame([has(true, { NO_COLOR: '1' }), has(true, { NO_COLOR: '' })], [false, true])
  t.strictSame([has(false, { FORCE_COLOR: '1' }), has(true, { FORCE_COLOR: '0' })], [true, false])
  t.strictSame([terminalOf(stream(true), {}).columns, terminalOf(stream(false), {}).columns], [80, null])
  t.equal(toned('revoked', 'bad', { columns: 80, hasColours: true }), '\u001b[31mrevoked\u001b[39m')
  t.equal(toned('revoked', 'bad', NOWHERE), 'revoked')
})

test('says how long ago a moment is, or how far ahead', async (t) => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  const ago = (seconds: number) => agoText(new Date(now - seconds * 1000).toISOString(), now)
  t.strictSame([ago(1), ago(300), ago(3 * 3600), ago(86_400), ago(-40 * 86_400), ago(800 * 86_400)],
    ['1 second ago', '5 minutes ago', '3 hours ago', '1 day ago', 'in 1 month', '2 years ago'])
})

test('options of every command may stand before it', async (t) => {
  for (const [given, expected] of [
    ['--json -d sqlite:x keys list', 'keys list --json -d sqlite:x'],
    ['keys --database=sqlite:x list', 'keys list --database=sqlite:x'],
    ['-dsqlite:x users find ann', 'users find ann -dsqlite:x'],
    ['-d sqlite:x scim --json keys create', 'scim keys create -d sqlite:x --json'],
    ['check -d sqlite:x --fix', 'check -d sqlite:x --fix'],
    ['--tenant acme import file.csv --json', 'import file.csv --tenant acme --json'],
    ['keys create -n --json', 'keys create -n --json'],
    ['--unknown keys list --json', '--unknown keys list --json'],
    ['-d', '-d']
  ] as const) t.equal(commandFirst(given.split(' ')).join(' '), expected)
})
