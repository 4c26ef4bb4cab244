import type { ComponentChildren } from 'preact'
import { navigate } from '../state/route.ts'

export interface Column<Row> {
  key: string
  heading: ComponentChildren
  /** What a narrow screen shows before the value, and printers do not. */
  label: string
  sort?: 'ascending' | 'descending' | 'none'
  cell: (row: Row) => ComponentChildren
}

interface TableProps<Row> {
  label: string
  rows: readonly Row[]
  columns: ReadonlyArray<Column<Row>>
  rowKey: (row: Row) => string
  /** Where a click on a row leads; the row has a link there too. */
  rowHref?: (row: Row) => string
  /** What a style sheet calls the table. */
  look?: string
}

/** A text that is cut gets the whole of it as a tooltip. */
function showWhole ({ target }: Event): void {
  const cell = target instanceof Element ? target.closest<HTMLElement>('.cell') : null
  if (cell === null) return
  const boxes = [cell, ...cell.querySelectorAll(':scope > :is(a, bdi), .name > bdi')]
  // What is set inline has no width of its own.
  const isCut = boxes.some(({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth)
  if (isCut) cell.title = cell.innerText
  else cell.removeAttribute('title')
}

/** True of a click that is meant for the row, and not for a control in it or for text that is being selected. */
function isForRow ({ target }: Event): boolean {
  const isControl = target instanceof Element && target.closest('a, button, input, label, summary') !== null
  return !isControl && getSelection()?.isCollapsed !== false
}

/**
 * A table; on narrow screens a list of cards. Roles are written out, since the style of cards would take them away from
 * screen readers.
 */
export function Table<Row> ({ label, rows, columns, rowKey, rowHref, look = '' }: TableProps<Row>) {
  const goTo = (row: Row) => rowHref && {
    onClick: (event: Event) => { if (isForRow(event)) navigate(rowHref(row)) }
  }
  return (
    <div class='table-box'>
      <table role='table' class={look} aria-label={label} onPointerOver={showWhole}>
        <thead role='rowgroup'>
          <tr role='row'>
            {columns.map(({ key, label, heading, sort }) => (
              <th
                key={key}
                role='columnheader'
                scope='col'
                class={`is-${key}`}
                data-label={label}
                {...(sort !== undefined && { 'aria-sort': sort })}
              >
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role='rowgroup'>
          {rows.map((row) => (
            <tr key={rowKey(row)} role='row' {...goTo(row)}>
              {columns.map(({ key, label, cell }) => (
                <td key={key} role='cell' class={`is-${key}`} data-label={label}>
                  <div class='cell'>{cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
