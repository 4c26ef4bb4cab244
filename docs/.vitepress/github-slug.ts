/** The anchor of a heading as GitHub makes it, so that a link to one works there and on the site. */
export function githubSlug (heading: string): string {
  return heading.trim().toLowerCase().replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '').replaceAll(' ', '-')
}
