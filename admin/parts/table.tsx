import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { navigate } from '../state/route.ts'
import { type RowAction, RowMenu } from './menu.tsx'

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
  const isControl = target instanceof Element && target.closest('a, button, input, label, .menu') !== null
  return !isControl && getSelection()?.isCollapsed !== false
}

/** Marks the edges of a box behind which there is more to scroll to. */
function useEdges () {
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const { current } = box
    const frame = current?.parentElement
    if (current == null || frame == null) return
    const mark = (): void => {
      const { scrollLeft, scrollTop, scrollWidth, scrollHeight, clientWidth, clientHeight } = current
      const from = Math.abs(scrollLeft)
      frame.classList.toggle('more-before', from > 1)
      frame.classList.toggle('more-after', from + clientWidth < scrollWidth - 1)
      frame.classList.toggle('more-below', scrollTop + clientHeight < scrollHeight - 1)
    }
    const observer = new ResizeObserver(mark)
    observer.observe(current)
    if (current.firstElementChild !== null) observer.observe(current.firstElementChild)
    current.addEventListener('scroll', mark, { passive: true })
    return () => {
      observer.disconnect()
      current.removeEventListener('scroll', mark)
    }
  }, [])
  return box
}

/** The column of what can be done with a row. `of`: what the row is about. */
export function actionsColumn<Row> (
  label: string, of: (row: Row) => string, actionsOf: (row: Row) => readonly RowAction[]
): Column<Row> {
  return {
    key: 'actions',
    label,
    heading: <span class='visually-hidden'>{label}</span>,
    cell: (row) => <RowMenu of={of(row)} actions={actionsOf(row)} />
  }
}

/**
 * A table; on narrow screens a list of cards. Roles are written out, since the style of cards would take them away from
 * screen readers.
 */
export function Table<Row> ({ label, rows, columns, rowKey, rowHref, look = '' }: TableProps<Row>) {
  const goTo = (row: Row) => rowHref && {
    onClick: (event: Event) => { if (isForRow(event)) navigate(rowHref(row)) }
  }
  const box = useEdges()
  return (
    <div class='table-frame'>
      <div class='table-box' ref={box}>
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
    </div>
  )
}
