import type { Json, JsonObject } from '../../lib/storage/storage.ts'

/** Texts that are all different byte by byte, and that some comparison takes for equal, or for nothing. */
export const LOOKALIKES = [
  '\ufeffa', 'a?', '&amp;', '&', '%41', 'a%20b', 'a+b', 'a b', 'a.b', 'ab', '\u{1f468}\u200d\u{1f469}',
  '\u{1f468}\u{1f469}', '\u2764\ufe0f', '\u2764', 'a@b', '<b>a</b>', 'a', 'A', 'á', 'a\u0301', 'ä', 'ae', 'å',
  'å'.normalize('NFD'), 'aa', 'a ', ' a', 'a\t', 'a\u00a0', 'a\u200b', 'a.', 'a_', 'a%', 'a*', 'a\\', 'ａ', 'ß',
  'ss', 'ẞ', 'i', 'I', 'ı', 'İ', 'i\u0307', 'ﬁ', 'fi', 'o', 'ø', 'ö', '1', '01', '1.0', '1e0', '①', '٣', '0', '-0',
  'null', 'undefined', 'true', 'NaN', '[object Object]', '__proto__', 'constructor', 'toString', 'hasOwnProperty',
  '{}', '[]', '"', '\'', '`', '$where', ':', '::', '/', '|', ',', 'a:b', 'a|b', 'a,b', 'a\u{1f98a}', 'a\u{1f98b}',
  '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}', 'é', 'e\u0301', 'ſ', 's', 'K', 'k', 'Ω', 'ω', 'ς', 'σ',
  '2026-01-31', '2026-01-31T09:30:00.000Z', '한', '한'.normalize('NFD'), '\r\n', '\n', 'مريم', 'עברית'
]

/** Moments that clocks with a zone, 32 bits, whole seconds, few years or years of two digits get wrong. */
export const MOMENTS = [
  '2026-03-29T00:59:59.999Z', '2026-03-29T01:00:00.000Z', '2026-03-29T01:30:00.001Z', '2026-03-29T02:30:00.000Z',
  '2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z', '2026-03-08T07:30:00.000Z', '2026-11-01T05:30:00.000Z',
  '2026-11-01T06:30:00.000Z', '1970-01-01T00:00:00.000Z', '1969-12-31T23:59:59.999Z', '2038-01-19T03:14:08.007Z',
  '2028-02-29T12:00:00.000Z', '2016-12-31T23:59:59.999Z', '2026-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z',
  '2106-02-07T06:28:16.000Z', '2026-06-01T00:00:00.010Z', '2026-06-01T00:00:00.100Z', '2026-06-01T00:00:00.001Z',
  '0001-01-01T00:00:00.000Z', '0026-06-01T00:00:00.001Z', '0099-12-31T23:59:59.999Z', '0100-01-01T00:00:00.000Z'
]

/** Numbers that text, decimals, floats or 32 bits change. */
export const NUMBERS = [
  0, 1, -1, 0.1, 0.1 + 0.2, 1 / 3, 1.5, 100, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, 2 ** 24 + 1, 2 ** 31,
  -(2 ** 31) - 1, 2 ** 32, 2 ** 53 - 1, 2 ** 53 - 2, -(2 ** 53) + 1, 123456789.125, 4503599627370495.5, 1e3,
  12345678901234
]

/** Names of members that an object, a path, an operator or a column may give a meaning. */
const NAMES = [
  'constructor', 'toString', 'hasOwnProperty', '', ' ', '.', 'a.b', 'a.0', '$set', '$', '0', '10', '2', '_id',
  'id', 'email', 'name', 'version', 'length', 'ключ', '🦊', 'a/b', '~', '"', '\'', '\\', '%', 'a b', 'A', 'a',
  'type', 'key', 'value'
]

/** Nested to the deepest level that callers give. */
const deepest: JsonObject = { 1: { 2: { 3: { 4: { 5: { 6: {} } } } } }, list: [[[[[[]]]]]] }

/** Fields of users that come back as they are given, member by member, and in that order. */
export const FIELDS: readonly JsonObject[] = [
  Object.fromEntries(NAMES.map((name, i) => [name, i])),
  Object.fromEntries(NAMES.toReversed().map((name) => [name, { [name]: [name] }])),
  Object.fromEntries(NUMBERS.map((value, i) => [`n${i}`, value])),
  { values: NUMBERS, texts: LOOKALIKES },
  Object.fromEntries(LOOKALIKES.slice(0, 60).map((text, i) => [`t${i}`, text])),
  Object.fromEntries(MOMENTS.map((text, i) => [`at${i}`, text])),
  { empty: '', none: null, no: false, zero: 0, nothing: {}, list: [], nested: [[], {}, [null, false, 0, '']] },
  { z: 1, y: { b: 1, a: { d: 1, c: 2 } }, x: [{ b: 1, a: 2 }], a: 0 },
  { longest: { middle: 1, b: 2, longer: { bbb: 1, aa: 2, c: 3 } }, b: [1, 1, 'a', 'a', null, null, {}, {}] },
  { [`${'n'.repeat(100)}1`]: 1, [`${'n'.repeat(100)}2`]: { ['m'.repeat(1000)]: 2 } },
  deepest,
  // The longest that callers give is 16 KiB of JSON.
  { long: 'x'.repeat(16_000) },
  { long: '"\\\n'.repeat(2600) },
  Object.fromEntries(Array.from({ length: 63 }, (_, i) => [`member${63 - i}`, { i }]))
]

/** Values one after the other, each different from the one before, that a careless comparison takes for equal. */
export const NEAR: readonly Json[] = [
  1, '1', 1.5, '1.5', 1, true, 'true', 0, false, '', null, 'null', [], {}, [null], [1], 1, ['1'], [1, 1], [1, 2],
  [2, 1], [[1, 2]], [[1], [2]], { a: 1 }, { a: '1' }, { a: 1, b: 2 }, { b: 2, a: 1 }, { b: 2 }, { b: { c: 1 } },
  { b: { d: 1 } }, { b: { d: 1, c: null } }, { b: { c: null, d: 1 } }, { b: {} }, { b: null }, {}, 'a', 'A', 'a ',
  'á', 'a\u0301', 0.1, 0.10001, 1e21, 1e21 + 131072, 2 ** 53 - 1, 2 ** 53 - 2, 'x'.repeat(1000),
  `${'x'.repeat(999)}y`, { long: { a: [1, { b: 1 }] } }, { long: { a: [1, { b: 2 }] } },
  { long: { a: [1, { b: 2 }], c: 1 } }, { long: { a: [1] } }
]

/** Texts that no record has, of forms that a look-up may turn into another text, a pattern or a query. */
export function lookUpsNear (known: string): string[] {
  return [
    '', ' ', '\0', `${known}\0`, `${known}\u0301`, known.replace('u', 'ú'), known.replace(/k/, '\u212a'),
    `${known}\u200b`, `${known} `, ` ${known}`, known.slice(0, -1), `${known}0`, known.toUpperCase(),
    `${known.slice(0, -1)}_`, `${known.slice(0, -1)}%`, `${known.slice(0, -1)}*`, `${known.slice(0, 8)}%`, '%', '*',
    '.*', '_'.repeat(known.length), `${known}\n`, `${known}\ud800`, '__proto__', 'constructor', 'toString', 'null',
    'undefined', '0', '{}', '[object Object]', '"', '\'', '\\', `${known}' OR '1'='1`, '$ne', 'x'.repeat(500),
    'é', '🦊'
  ].filter((text) => text !== known)
}
