/** The files of the page. `scripts/bundle.mjs` makes this module, `dist/admin/page.js`. */
declare module '#admin-page' {
  export const html: string
  export const script: string
  export const style: string
}
