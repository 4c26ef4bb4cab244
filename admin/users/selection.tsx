import { useLayoutEffect, useRef } from 'preact/hooks'
import type { User } from '../api/types.ts'
import { focusHeading } from '../parts/dialog.tsx'
import { Alert, useAction } from '../parts/feedback.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import type { Column } from '../parts/table.tsx'
import { useOffers } from '../state/offers.ts'
import { useSession } from '../state/session.ts'
import { useShortcut } from '../state/shortcuts.ts'
import { useSpeech } from '../state/texts.ts'
import type { Selected } from './bulk.ts'
import { BulkDialog, type BulkKind } from './bulk-dialog.tsx'

export type Selection = ReadonlyMap<string, Selected>

export function toggled (selection: Selection, users: readonly Selected[], isOn: boolean): Selection {
  const next = new Map(selection)
  for (const user of users) {
    if (isOn) next.set(user.id, user)
    else next.delete(user.id)
  }
  return next
}

/** A selection without some users. */
export function without (selection: Selection, ...ids: string[]): Selection {
  return new Map([...selection].filter(([id]) => !ids.includes(id)))
}

/** The column of checkboxes. `isOff`: the rows are not what was asked for. */
export function selectionColumn<Row extends User> (
  users: readonly Row[],
  { selection, onSelection, isOff }: {
    selection: Selection, onSelection: (selection: Selection) => void, isOff: boolean
  },
  say: ReturnType<typeof useSpeech>['say']
): Column<Row> {
  const isAll = users.length > 0 && users.every(({ id }) => selection.has(id))
  // The label fills its cell, so that whoever misses the box does not open the user.
  const box = (label: string, checked: boolean, concerned: readonly Row[]) => (
    <label class='pick'>
      <input
        type='checkbox'
        aria-label={label}
        checked={checked}
        disabled={isOff}
        onChange={(event) => onSelection(toggled(selection, concerned, event.currentTarget.checked))}
      />
    </label>
  )
  return {
    key: 'selection',
    label: '',
    heading: box(say('users.selectPage'), isAll, users),
    cell: (user) => box(say('users.select', { name: user.name }), selection.has(user.id), [user])
  }
}

/** What is to be done with some users, after a question. */
export interface Asked {
  kind: BulkKind
  users: readonly Selected[]
  /** True if it takes back what was just done: it is not asked about again. */
  isUndo?: boolean
}

interface SelectionBarProps {
  selection: Selection
  onSelection: (selection: Selection) => void
  kinds: readonly BulkKind[]
  /** What a row of the list has asked for. */
  asked: Asked | null
  onAsked: (asked: Asked | null) => void
  /** Saves the selected users as a file. Absent: they can't be. */
  onExport?: (users: readonly Selected[]) => void
  /** How many match what the list was asked for, and what loads them; absent: no more can be selected together. */
  all?: { total: number, load: () => Promise<readonly Selected[]> } | undefined
  /** Called after users were changed. */
  onChanged: () => void
}

/** True of users that a change would change. */
function concerns (kind: BulkKind, { status }: Selected): boolean {
  return kind === 'suspend' ? status === 'active' : kind === 'activate' ? status === 'suspended' : true
}

const ICONS = {
  delete: 'delete', restore: 'restore', suspend: 'suspend', activate: 'activate', change: 'edit'
} as const satisfies Record<BulkKind, IconName>

const scopeOf = (kind: BulkKind) => kind === 'delete' || kind === 'restore' ? 'users:delete' : 'users:write'

/** What can be done with the users that are selected. It comes after them, so that none moves when it appears. */
export function SelectionBar (props: SelectionBarProps) {
  const { selection, onSelection, kinds, asked, onAsked: setAsked, onExport, all, onChanged } = props
  const { say } = useSpeech()
  const { can } = useSession()
  const { error, isBusy, run } = useAction()
  const bar = useRef<HTMLDivElement>(null)
  const users = [...selection.values()]
  const offers = kinds.filter((kind) => can(scopeOf(kind))).map((kind) => {
    const concerned = users.filter((user) => concerns(kind, user))
    const isOff = isBusy || concerned.length === 0
    const run = (): void => { if (!isOff) setAsked({ kind, users: concerned }) }
    return { key: kind, label: say(`bulk.${kind}.asks`, { count: concerned.length }), kind, isOff, run }
  })
  useOffers(offers.filter(({ isOff }) => !isOff))
  const offerOf = (kind: BulkKind) => offers.find((each) => each.kind === kind && !each.isOff)?.run ?? null
  useShortcut('s', offerOf('suspend'))
  useShortcut('d', offerOf('delete'))
  // The button that selects all has gone once it has done so.
  const hasAll = useRef(false)
  useLayoutEffect(() => {
    if (isBusy || !hasAll.current) return
    hasAll.current = false
    if (document.activeElement === document.body) {
      bar.current?.querySelector<HTMLElement>('.space ~ button:not(:disabled)')?.focus()
    }
  }, [isBusy])
  return (
    <>
      {selection.size > 0 && (
        <div ref={bar} class='selection' role='group' aria-label={say('users.selection')}>
          <span role='status'>{say('users.selected', { count: selection.size })}</span>
          {all !== undefined && all.total > selection.size && (
            <button
              type='button'
              class='plain'
              disabled={isBusy}
              onClick={() => run(async () => {
                onSelection(toggled(new Map(), await all.load(), true))
                hasAll.current = true
              })}
            >
              {say('users.selectAll', { count: all.total })}
            </button>
          )}
          <button
            type='button'
            class='plain'
            onClick={() => {
              onSelection(new Map())
              focusHeading()
            }}
          >
            {say('users.clear')}
          </button>
          <span class='space' />
          {onExport !== undefined && (
            <button type='button' onClick={() => onExport(users)}>
              <Icon name='export' />{say('users.exportSelection')}
            </button>
          )}
          {offers.map(({ kind, isOff, run }) => (
            <button
              key={kind}
              type='button'
              class={kind === 'delete' ? 'danger' : ''}
              disabled={isOff}
              onClick={run}
            >
              <Icon name={ICONS[kind]} />{say(`bulk.${kind}`)}…
            </button>
          ))}
          <Alert error={error} />
        </div>
      )}
      {asked !== null && (
        <BulkDialog
          key={asked.kind}
          kind={asked.kind}
          users={asked.users}
          isUndo={asked.isUndo === true}
          onUndo={(kind, users) => setAsked({ kind, users, isUndo: true })}
          onClose={(done, meanwhile) => {
            setAsked(null)
            if (done.length + meanwhile.length === 0) return
            focusHeading()
            const isWhole = done.length === asked.users.length
            // Who was changed by somebody else has to be looked at again.
            onSelection(isWhole ? new Map() : without(selection, ...[...done, ...meanwhile].map(({ id }) => id)))
            onChanged()
          }}
        />
      )}
    </>
  )
}
