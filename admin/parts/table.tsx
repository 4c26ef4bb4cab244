import type { ComponentChildren } from 'preact'

export interface Column<Row> {
  key: string
  heading: ComponentChildren
  /** What a narrow screen shows before the value, and printers do not. */
  label: string
  sort?: 'ascending' | 'descending' | undefined
  cell: (row: Row) => ComponentChildren
}

interface TableProps<Row> {
  label: string
  rows: readonly Row[]
  columns: ReadonlyArray<Column<Row>>
  rowKey: (row: Row) => string
}

/**
 * A table; on narrow screens a list of cards. Roles are written out, since the style of cards would take them away from
 * screen readers.
 */
export function Table<Row> ({ label, rows, columns, rowKey }: TableProps<Row>) {
  return (
    <table role='table' aria-label={label}>
      <thead role='rowgroup'>
        <tr role='row'>
          {columns.map(({ key, heading, sort }) => (
            <th key={key} role='columnheader' scope='col' {...(sort !== undefined && { 'aria-sort': sort })}>
              {heading}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role='rowgroup'>
        {rows.map((row) => (
          <tr key={rowKey(row)} role='row'>
            {columns.map(({ key, label, cell }) => (
              <td key={key} role='cell' data-label={label}><div class='cell'>{cell(row)}</div></td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
