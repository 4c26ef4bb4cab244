// Files of other systems: the maps that the docs give, and what an import says of names and encodings.
import { readFile } from 'node:fs/promises'
import { test } from 'tap'
import type { ImportResult } from '../../lib/index.ts'
import { testApp } from '../helpers/app.ts'
import { withoutType } from '../helpers/fields.ts'
import { importWords, linesOf, ndjsonOf, wordsOf } from '../helpers/import-rows.ts'

const fields = withoutType({
  type: 'object',
  properties: {
    legacyId: { type: 'string' },
    seats: { type: 'integer' },
    address: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
  }
})
const docs = await readFile(new URL('../../docs/import-export.md', import.meta.url), 'utf8')

/** The map that the docs give for a system. */
function documentedMap (system: string): string {
  const [, map] = new RegExp(`^\\| ${system}[^|]*\\| \`([^\`]+)\` \\|`, 'm').exec(docs) ?? []
  if (map === undefined) throw new Error(`the docs have no map for ${system}`)
  return map
}

const users = [
  { name: 'Mira Okonski', email: 'mira@example.org', legacyId: '00u1', createdAt: '2024-03-01T09:30:00.000Z' },
  { name: 'Téo', email: 'teo@example.org', legacyId: '00u2', createdAt: '2024-03-02T00:00:00.000Z' }
]
const without = (...names: string[]) =>
  users.map((user) => Object.fromEntries(Object.entries(user).filter(([name]) => !names.includes(name))))

const EXPORTS = {
  Okta: [
    'id,status,login,firstName,lastName,middleName,email,title,displayName,mobilePhone,created,lastLogin',
    '00u1,ACTIVE,mira,Mira,Okonski,,mira@example.org,,,,2024-03-01T09:30:00.000Z,',
    '00u2,STAGED,teo,Téo,null,,teo@example.org,,,,2024-03-02T00:00:00.000Z,'
  ],
  Entra: [
    '\ufeffuserPrincipalName,displayName,surname,mail,givenName,objectId,userType,jobTitle,department,accountEnabled,' +
      'usageLocation,city,companyName,creationType,directorySynced,createdDateTime',
    'mira@tenant.example,Mira Okonski,Okonski,mira@example.org,Mira,00u1,Member,,,True,DE,,,,,2024-03-01T09:30:00Z',
    'teo@tenant.example,Téo,,teo@example.org,,00u2,Guest,,,True,,,,Invitation,,2024-03-02T00:00:00Z'
  ],
  'Google Workspace': [
    'First Name [Required],Last Name [Required],Email Address [Required],Password [Required],' +
      'Org Unit Path [Required],Employee ID,Status [READ ONLY],Last Sign In [READ ONLY]',
    'Mira,Okonski,mira@example.org,****,/,00u1,Active,2026/01/31 12:00:00',
    'Téo,,teo@example.org,****,/,00u2,Suspended,Never logged in'
  ],
  Auth0: [
    'Id,Given Name,Family Name,Nickname,Name,Email,Email Verified,Picture,Connection,Created At,Updated At',
    '"00u1","Mira","Okonski","mira","Mira Okonski","mira@example.org","true","","db","2024-03-01T09:30:00.000Z",' +
      '"2024-03-05T00:00:00.000Z"',
    '"00u2","","","teo","Téo","teo@example.org","false","","db","2024-03-02T00:00:00.000Z","2024-03-05T00:00:00.000Z"'
  ],
  Clerk: [
    'id,first_name,last_name,username,primary_email_address,primary_phone_number,verified_email_addresses,' +
      'unverified_email_addresses,verified_phone_numbers,unverified_phone_numbers,totp_secret,password_digest,' +
      'password_hasher,created_at',
    '00u1,Mira,Okonski,,mira@example.org,,"mira@example.org,m@example.org",,,,,,,1709285400000',
    '00u2,Téo,,teo,teo@example.org,,,,,,,$2b$10$x,bcrypt,2024-03-02 00:00:00 UTC'
  ],
  Supabase: [
    'id,email,full_name,created_at,updated_at',
    '00u1,mira@example.org,Mira Okonski,2024-03-01 09:30:00+00,2024-03-05 10:00:00.123456+00',
    '00u2,teo@example.org,Téo,2024-03-02 01:00:00+0100,2024-03-05 10:00:00.123456+00'
  ],
  Stripe: [
    'id,Description,Email,Name,Created (UTC),Delinquent,Card ID,Card Last4,Card Brand,Currency,Total Spend,' +
      'legacyId (metadata)',
    '00u1,,mira@example.org,Mira Okonski,2024-03-01 09:30,false,,,,eur,"1,200.00",7',
    '00u2,,teo@example.org,Téo,2024-03-02 00:00,false,,,,,0.00,'
  ],
  Mailchimp: [
    '"Email Address","First Name","Last Name",MEMBER_RATING,OPTIN_TIME,OPTIN_IP,CONFIRM_TIME,CONFIRM_IP,TIMEZONE,CC,' +
      'LAST_CHANGED,LEID,EUID,NOTES,TAGS',
    'mira@example.org,Mira,Okonski,2,"2024-03-01 09:30:00",,"2024-03-01 09:31:00",,,,"2024-03-05 10:00:00",1,00u1,,' +
      '"""VIP"",""Blog"""',
    'teo@example.org,Téo,,2,"2024-03-02 00:00:00",,"2024-03-02 00:01:00",,,,"2024-03-05 10:00:00",2,00u2,,'
  ]
}

for (const [system, lines] of Object.entries(EXPORTS)) {
  test(`imports an export of ${system} with the map of the docs`, async (t) => {
    const { app, call } = await testApp(t, { fields: { schema: fields, unique: ['legacyId'] } })
    const query = new URLSearchParams({ map: documentedMap(system), ignoreUnknown: 'true' })
    const { words, errors } = await importWords(call, query.toString(), lines.join('\r\n'), 'text/csv')
    t.strictSame(errors ?? words, ['2 created', '3 created'])
    const { data } = await app.users.list()
    t.match(data, system === 'Google Workspace' ? without('createdAt') : users)
  })
}

test('names of a file are mapped in every format, and what users do not have can be left out', async (t) => {
  const { app, call } = await testApp(t, { fields: { schema: fields } })
  const seen = async () => {
    const { data } = await app.users.list()
    for (const { id } of data) await app.users.delete(id)
    return data.map((user) => Object.fromEntries(['name', 'email', 'legacyId', 'seats', 'address'].flatMap((name) =>
      Object.hasOwn(user, name) ? [[name, Object(user)[name]]] : [])))
  }
  const map = 'name:Full Name,email:E-Mail,fields.legacyId:id'
  const expected = [{ name: 'A', email: 'a@example.org', legacyId: '7', seats: 3 }]
  const query = new URLSearchParams({ map, ignoreUnknown: 'true' }).toString()
  const table = 'FULL NAME;E-Mail;seats;id;more;name\nA;a@example.org;3;7;x;other\n'
  t.match(await importWords(call, query, table, 'text/csv'), { words: ['2 created'] })
  t.strictSame(await seen(), expected)
  const row = { 'Full Name': 'A', 'E-Mail': 'a@example.org', seats: 3, id: '7', more: 1, name: 'other', version: 1 }
  t.match(await importWords(call, query, ndjsonOf([row])), { words: ['1 created'] })
  t.strictSame(await seen(), expected)
  const lines = '{"name":"A","email":"a@example.org","town":"Bonn"}\n{"name\n'
  t.match(await importWords(call, 'map=address.city:town', lines), { words: ['1 created', '2 refused malformed_json'] })
  t.match(await seen(), [{ address: { city: 'Bonn' } }])
  t.match(await app.users.import([row], { map, ignoreUnknown: true }), { created: 1 })
  t.strictSame(await seen(), expected)

  const results: string[] = []
  const onResult = (result: ImportResult) => { results.push(wordsOf({ ...result })) }
  const getter = Object.defineProperty({}, 'name', { enumerable: true, get () { throw new Error('x') } })
  const other = Object.fromEntries([['first', 'A'], ['last', null], ['mail', 'a@example.org']])
  await app.users.import([row, getter, 7, other, { mail: 'b@example.org' }], {
    map: 'name=first,name=last,email=mail,id=', onResult
  })
  t.strictSame(results, [
    'refused /name required /email required /Full Name unknown /E-Mail unknown /more unknown', 'refused  type',
    'refused  type', 'created', 'refused /name required'
  ])
  t.strictSame(await seen(), [{ name: 'A', email: 'a@example.org' }])
})

test('a map that does not fit is refused before any row, with the names that are allowed', async (t) => {
  const { app, call } = await testApp(t, { fields: { schema: fields } })
  const allowed = 'id, name, email, legacyId, seats, address.city, status, statusReason, version, createdAt, updatedAt'
  const pairs = 'must be pairs <member>:<column>, separated by commas, as in name:Full Name'
  for (const [map, code, detail] of [
    ['', 'format', pairs], [':x', 'format', pairs], ['name:x,', 'format', pairs],
    ['name:x,mail:y', 'choice', 'must name a member of users in pair 2; the nearest is email; ' +
      `the allowed names are ${allowed}`]
  ] as const) {
    const query = new URLSearchParams({ map }).toString()
    t.match(await importWords(call, query, ''), { status: 400, errors: [{ parameter: 'map', code, detail }] }, map)
  }
  const notText = { map: ['name:x'], ignoreUnknown: 'yes' }
  await t.rejects(app.users.import([], withoutType(notText)),
    { errors: [{ parameter: 'map' }, { parameter: 'ignoreUnknown' }] })
  const header = async (map: string, header: string) =>
    (await importWords(call, new URLSearchParams({ map }).toString(), `${header}\n`, 'text/csv')).errors
      ?.map(({ pointer, code }: Record<string, string>) => `${pointer} ${code}`)
  t.strictSame(await header('name:Full Name,email:Mail', 'full_name,email'), ['/email required'])
  t.strictSame(await header('name:a,name:b,seats:c', 'a,email,c,c'), ['/name required', ' unknown'])
  t.strictSame(await header('seats:', 'name,email,seats\nA,a@example.org,7'), undefined)
  t.strictSame(await header('name:', 'name,email'), ['/name required'])
})

test('a map multiplies no text: the names of a member and the length of a line’s members are bounded', async (t) => {
  const properties = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`list${n}`, { type: 'array' }]))
  const { call } = await testApp(t, { fields: { schema: withoutType({ type: 'object', properties }) } })
  const run = (map: string, payload: string, type?: string) =>
    importWords(call, new URLSearchParams({ map, ignoreUnknown: 'true' }).toString(), payload, type)
  const times = (count: number) => Array(count).fill('name:Full Name').join()
  const tooMany = 'must name a member at most 10 times; name is named more often'
  t.match(await run(times(11), ''), {
    status: 400, errors: [{ parameter: 'map', code: 'too_many', detail: tooMany }]
  })
  const mail = 'a@example.org'
  t.match(await run(times(10), `Full Name,email\nA,${mail}\n`, 'text/csv'), { words: ['2 created'] })

  const long = 'x'.repeat(32 * 1024 - 20)
  const detail = 'The members that map creates from the line are longer than 64 KiB together.'
  for (const [payload, type] of [
    [`Full Name,email\n${long},b@example.org\nC,c@example.org\n`, 'text/csv'],
    [
      ndjsonOf([{ 'Full Name': long, email: 'b@example.org' }, { 'Full Name': 'C', email: 'd@example.org' }]),
      'application/x-ndjson'
    ]
  ] as const) {
    const { lines, words } = await run(times(3), payload, type)
    t.match(words, [/^\d refused body_too_large$/, /^\d created$/], type)
    t.match(lines?.[0], { problem: { status: 413, detail } }, type)
    t.match((await run(times(2), payload, type)).words, [/^\d refused \/name too_long$/, /refused/], type)
  }
  const lists = Object.keys(properties).map((name) => `${name}:list`).join()
  const json = `"[${Array(2000).fill('[]').join()}]"`
  t.match((await run(lists, `name,email,list\nD,d@example.org,${json}\n`, 'text/csv')).words,
    ['2 refused body_too_large'])
})

test('a file in another encoding is told once, with how to save it', async (t) => {
  const { app, call } = await testApp(t)
  const rows = Array.from({ length: 1000 }, (_, n) => `${n % 2 === 0 ? 'Zo\xeb' : 'Zoe'},z${n}@example.org\n`)
  const file = Buffer.from(`name,email\n${rows.join('')}`, 'latin1')
  const detail = 'must be text in UTF-8: save the whole file as UTF-8 (in Excel: "CSV UTF-8"); ' +
    'more lines like this are counted but not listed'
  const headers = { 'content-type': 'text/csv' }
  for (const dryRun of [true, false]) {
    const { body } = await call('POST', `/users/import?dryRun=${dryRun}`, { headers, payload: file })
    t.match(linesOf(body), [
      { line: 2, status: 'refused', problem: { errors: [{ pointer: '', code: 'format', detail }] } },
      { summary: { created: 500, refused: 500 } }
    ])
  }
  t.equal((await app.users.list()).meta.total, 500)
  const results: ImportResult[] = []
  const lines = Buffer.from('{"name":"\xeb"}\n{"name":"\xeb"}\n{}\n', 'latin1')
  t.match(await app.users.import([lines], { format: 'ndjson', onResult: (result) => results.push(result) }),
    { refused: 3 })
  t.match(results, [
    { line: 1, problem: { code: 'malformed_json', detail: /^The line is not text in UTF-8: save the whole file as / } },
    { line: 3, problem: { code: 'validation_failed' } }
  ])
  const header = await call('POST', '/users/import', { headers, payload: Buffer.from('name,email,\xeb\n', 'latin1') })
  t.match(header.json(), { errors: [{ detail: /^must be text in UTF-8, the header too: save the whole file as / }] })
})

test('moments have the forms of other systems, the same in tables, lines of JSON and process', async (t) => {
  const { app, call } = await testApp(t)
  for (const [given, moment] of [
    ['2024-03-01', '2024-03-01T00:00:00.000Z'], ['2024-03-01 09:30', '2024-03-01T09:30:00.000Z'],
    ['2024-03-01 09:30:00.123456+02', '2024-03-01T07:30:00.123Z'],
    ['2024-03-01T09:30:00+0000', '2024-03-01T09:30:00.000Z'],
    ['2024-03-01 09:30:00 UTC', '2024-03-01T09:30:00.000Z'], [1709285400000, '2024-03-01T09:30:00.000Z'],
    [1709285400, '2024-03-01T09:30:00.000Z']
  ] as const) {
    for (const [payload, type] of [
      [ndjsonOf([{ name: 'A', email: 'a@example.org', createdAt: given }]), 'application/x-ndjson'],
      [`name,email,createdAt\nA,a@example.org,${given}\n`, 'text/csv']
    ] as const) {
      t.match((await importWords(call, '', payload, type)).summary, { created: 1 }, `${given} ${type}`)
      const [user] = (await app.users.list()).data
      t.equal(user?.createdAt, moment, `${given} ${type}`)
      await app.users.delete(String(user?.id))
    }
  }
  t.match(await app.users.import([{ name: 'A', email: 'a@example.org', createdAt: new Date(0) }]), { created: 1 })
})
