import { test } from 'tap'
import { converted, defaulted, optional, readOptions, required } from '../../lib/core/option-table.ts'
import { Type } from '../../lib/core/typebox.ts'

const size = Type.Integer({ minimum: 1 })
const table = {
  name: required<string>({ schema: Type.String(), message: 'is required and must be a text' }),
  size: defaulted<number>(5, { schema: size, message: (value) => `must be 1 or more, not a ${typeof value}` }),
  hook: optional<() => void>({ schema: Type.Function([], Type.Unknown()), message: 'must be a function' }),
  list: converted<readonly string[], readonly string[]>((given = []) => [...given], {
    schema: Type.Array(Type.String()),
    message: 'must be a list of texts'
  }),
  quota: optional<{ max: number }>({
    schema: Type.Object({ max: size }, { additionalProperties: false }),
    message: 'must be { max }'
  })
}

const read = (given: object, between?: () => string[]) => readOptions('subject', table, Object(given), between)

test('fills in the defaults, and lists every option', async (t) => {
  t.strictSame(read({ name: 'x' }), { name: 'x', size: 5, hook: undefined, list: [], quota: undefined })
  t.strictSame(read({ name: 'x', size: undefined }), read({ name: 'x' }), 'undefined is not given')
})

test('keeps what was given, and the result cannot be changed', async (t) => {
  const hook = () => {}
  const list = ['a']
  const options = read({ name: '', size: 1, hook, list, quota: { max: 1 } })
  t.strictSame(options, { name: '', size: 1, hook, list, quota: { max: 1 } })
  t.not(options.list, list, 'a converted option is a copy')
  t.ok(Object.isFrozen(options))
})

test('names every unknown, missing and wrong option in one error', async (t) => {
  const given = { toString: 1, size: 0, hook: null, other: undefined }
  t.throws(() => read(given), new TypeError([
    'subject: 5 wrong options:',
    '- toString is not a known option',
    '- other is not a known option',
    '- name is required and must be a text',
    '- size must be 1 or more, not a number',
    '- hook must be a function'
  ].join('\n')))
  t.throws(() => read({ name: 5 }), { message: 'subject: 1 wrong option:\n- name is required and must be a text' })
})

test('anything but an object lacks the required options', async (t) => {
  for (const text of ['null', '5', '[]']) {
    t.throws(() => readOptions('subject', table, JSON.parse(text)), /1 wrong option:\n- name is required/, text)
  }
})

test('looks for problems between options only if each is right by itself', async (t) => {
  let calls = 0
  const between = () => {
    calls++
    return ['size and list do not fit']
  }
  t.throws(() => read({ name: 5 }, between), /- name is required/)
  t.equal(calls, 0)
  t.throws(() => read({ name: 'x' }, between), { message: 'subject: 1 wrong option:\n- size and list do not fit' })
  t.equal(calls, 1)
  t.doesNotThrow(() => read({ name: 'x' }, () => []))
})

test('refuses an object whose members are inherited, since a copy would lose them', async (t) => {
  class Quota { get max () { return 1 } }
  t.throws(() => read({ name: 'x', quota: new Quota() }), /quota must be \{ max \}/)
  t.throws(() => read({ name: 'x', quota: Object.create({ max: 1 }) }), /quota must be/)
  t.throws(() => read({ name: 'x', quota: { max: 1, other: 2 } }), /quota must be/)
  t.doesNotThrow(() => read({ name: 'x', quota: Object.assign(Object.create(null), { max: 1 }) }))
})

test('an error never repeats a value, which may be a secret', async (t) => {
  const given = { name: ['secret'], size: 'secret', list: 'secret', quota: 'secret' }
  t.throws(() => read(given), /^(?!.*secret).*4 wrong options/s)
})
