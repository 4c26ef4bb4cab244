import { converted, defaulted, type Option, optional, type OptionsOf } from '../core/option-table.ts'
import { Type } from '../core/typebox.ts'
import { logoUrl } from './brand.ts'
import { english, type Texts } from './texts.ts'

const identifier = {
  schema: Type.String({ pattern: '^[A-Za-z_$][A-Za-z0-9_$]*$' }),
  message: 'must be a JavaScript identifier'
}
const text = Type.Union([
  Type.String(),
  Type.Object({ other: Type.String() }, { additionalProperties: Type.String() })
])

/** True if the page has a text of this name. */
export const isTextName = (name: string): boolean => Object.hasOwn(english, name)

const logo: Option<string | Uint8Array, string | null, false> = {
  required: false,
  problem: (value) => logoUrl(value) !== null
    ? null
    : 'must be a data: URL of an image, the text of an SVG, or the bytes of an SVG, PNG, JPEG, WebP or GIF, ' +
      'of at most 32 KiB: the page loads nothing from elsewhere',
  read: (given) => logoUrl(given)
}

/** The options of the administration page. docs/admin.md has a table of them. */
export const adminOptionTable = {
  /** The path of the page, below the host's own prefix. */
  prefix: converted<string, string>((given = '/admin') => given.replace(/\/+$/, ''), {
    schema: Type.String({ pattern: '^(?:/[^?#]*)?$' }),
    message: 'must be a path that begins with /, or an empty string'
  }),
  /** Name of the decorator whose users the page shows. */
  users: defaulted<string>('users', identifier),
  /**
   * The title of the page, at the top and in the browser tab: 1 to 60 characters. By default `Users` and the host
   * of its address.
   */
  title: optional<string>({
    schema: Type.String({ minLength: 1, maxLength: 60, pattern: '^(?!\\s)[^\\x00-\\x1f\\x7f]*(?<!\\s)$' }),
    message: 'must be 1 to 60 characters in one line, without spaces at the ends'
  }),
  /**
   * An image beside the title and in the browser tab: the bytes of an SVG, PNG, JPEG, WebP or GIF, the text of
   * an SVG, or a `data:` URL. At most 32 KiB. Scripts in an SVG do not run.
   */
  logo,
  /**
   * The colour of buttons and links, `#rrggbb` or `#rgb`. Text on it is black or white. Text in it is darkened
   * or lightened until it is readable (WCAG 2.2 AA).
   */
  accent: optional<string>({
    schema: Type.String({ pattern: '^#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$' }),
    message: 'must be a colour such as #0b57c2'
  }),
  /**
   * For hosts with sessions of their own: the page sends cookies and the token `session` instead of an API key, and the
   * option `authenticate` of fastify-users checks them. `signIn`: the address of the sign-in page, for a link.
   */
  session: optional<{ signIn?: string }>({
    schema: Type.Object({ signIn: Type.Optional(Type.String({ minLength: 1 })) }, { additionalProperties: false }),
    message: 'must be an object, optionally with the address of a sign-in page as signIn'
  }),
  /** Texts in another language, or in other words. Absent texts stay in English. */
  texts: converted<Partial<Texts>, Texts>(
    (given = {}) => ({ ...english, ...Object.fromEntries(Object.entries(given).filter(([name]) => isTextName(name))) }),
    {
      schema: Type.Record(Type.String(), text),
      message: 'must be an object of texts: strings, or plural forms that include other'
    }
  ),
  /** The language of the texts, as HTML and `Intl` name it (BCP 47). */
  language: defaulted<string>('en', {
    schema: Type.String({ pattern: '^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$' }),
    message: 'must be a language tag such as en or pt-BR'
  }),
  /** The direction that the language is written in: `ltr` or `rtl`. */
  direction: defaulted<'ltr' | 'rtl'>('ltr', {
    schema: Type.Union([Type.Literal('ltr'), Type.Literal('rtl')]),
    message: 'must be ltr or rtl'
  })
}

/** The options of the administration page. */
export interface AdminOptions extends OptionsOf<typeof adminOptionTable> {}
