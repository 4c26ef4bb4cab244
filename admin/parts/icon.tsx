/** What each icon draws on 16 × 16, in lines. */
const LINES = {
  activate: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0ZM5.3 8.2l1.9 1.9 3.5-3.9',
  add: 'M8 3v10M3 8h10',
  alert: 'M8 2.2 14.3 13H1.7ZM8 6.3v3.2M8 11.3h.01',
  close: 'M4 4l8 8M12 4l-8 8',
  columns: 'M2.5 3h11v10h-11ZM6.2 3v10M9.8 3v10',
  copy: 'M5.5 5.5h8v8h-8ZM10.5 5.5v-3h-8v8h3',
  delete: 'M2.5 4.5h11M6.5 4.5v-2h3v2M4 4.5l.6 9h6.8l.6-9M6.6 7.2v3.6M9.4 7.2v3.6',
  details: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0ZM8 7.5v3.3M8 5.2h.01',
  edit: 'M3 13l.6-2.8L10.7 3l2.3 2.3-7.2 7.1ZM9.3 4.4l2.3 2.3',
  export: 'M8 2.5V10M4.8 7 8 10.2 11.2 7M2.5 13.2h11',
  filter: 'M2 4h12M4.5 8h7M7 12h2',
  import: 'M8 10.5V3M4.8 6 8 2.8 11.2 6M2.5 13.2h11',
  more: 'M3.2 8h.01M8 8h.01M12.8 8h.01',
  next: 'M6 3.5 10.5 8 6 12.5',
  previous: 'M10 3.5 5.5 8l4.5 4.5',
  restore: 'M3 8a5 5 0 1 0 1.6-3.7M3 2.5v2.8h2.8',
  rotate: 'M13 8a5 5 0 1 1-1.6-3.7M13 2.5v2.8h-2.8',
  search: 'M11.25 7a4.25 4.25 0 1 1-8.5 0 4.25 4.25 0 0 1 8.5 0ZM10.2 10.2 14 14',
  suspend: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0ZM6.5 5.8v4.4M9.5 5.8v4.4',
  view: 'M4 2.5h8v11l-4-3-4 3Z'
} as const

export type IconName = keyof typeof LINES

/** A small picture beside words, or in place of them: what it stands for is said in words too. */
export function Icon ({ name }: { name: IconName }) {
  return (
    <svg class={`icon of-${name}`} viewBox='0 0 16 16' aria-hidden='true' focusable='false'>
      <path d={LINES[name]} />
    </svg>
  )
}
