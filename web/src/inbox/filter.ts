import type { Counts, Item } from './approval.ts'
import { searchText } from '../shared/search-text.ts'

/** The filters of the Inbox in the URL. Without a view it shows pending items. */
export type InboxFilters = {
  readonly kind?: string
  readonly q?: string
  readonly view?: View
}
export type View = 'decided' | 'snoozed'

const labels: Record<string, { readonly one: string; readonly many: string }> = {
  proposal: { one: 'Proposal', many: 'Proposals' },
  grant: { one: 'Access request', many: 'Access requests' },
  call: { one: 'Tool call', many: 'Tool calls' },
  permission: { one: 'New domain', many: 'New domains' },
  spot_check: { one: 'Spot check', many: 'Spot checks' },
  handoff: { one: 'Handoff', many: 'Handoffs' },
  finding: { one: 'Finding', many: 'Findings' },
}

/** Returns the label of a kind; an unknown kind keeps its own name. */
export function kindLabel(kind: string, number: 'one' | 'many' = 'one'): string {
  const label = Object.hasOwn(labels, kind) ? labels[kind] : undefined
  if (label) return label[number]
  const word = kind.replaceAll('_', ' ')
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** Parses search parameters; invalid values are ignored, so that no link fails. */
export function parseInboxFilters(search: Record<string, unknown>): InboxFilters {
  const [kind, q, view] = ['kind', 'q', 'view'].map((name) => searchText(search, name))
  return {
    ...(kind !== undefined && /^[a-z_]{1,40}$/.test(kind) && { kind }),
    ...(q !== undefined && { q }),
    ...((view === 'decided' || view === 'snoozed') && { view }),
  }
}

export const hasFilters = ({ kind, q }: InboxFilters): boolean =>
  kind !== undefined || q !== undefined

/** Whether the row contains every word of the search. */
export function matches(item: Item, { kind, q }: InboxFilters): boolean {
  if (kind !== undefined && item.kind !== kind) return false
  if (q === undefined) return true
  const text =
    `${item.requester} ${item.domain} ${item.action} ${item.target} ${item.summary}`.toLowerCase()
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

/** Offers every kind in views without counts. */
export const allKinds: Counts = {
  all: 1,
  ...Object.fromEntries(Object.keys(labels).map((kind) => [kind, 1])),
}

export type KindChip = {
  readonly kind: string | undefined
  readonly label: string
  readonly count: number
}

const knownKinds = Object.keys(labels)
const sortIndex = (kind: string) =>
  knownKinds.includes(kind) ? knownKinds.indexOf(kind) : knownKinds.length

/** Returns "All" and the kinds that have items, in a fixed order; the chosen kind stays even if it is empty. */
export function buildChips(counts: Counts, chosen: string | undefined): KindChip[] {
  const kinds = Object.keys(counts).filter(
    (kind) => kind !== 'all' && ((counts[kind] ?? 0) > 0 || kind === chosen),
  )
  if (chosen !== undefined && !kinds.includes(chosen)) kinds.push(chosen)
  kinds.sort((a, b) => sortIndex(a) - sortIndex(b) || a.localeCompare(b))
  const chip = (kind: string) => ({
    kind,
    label: kindLabel(kind, 'many'),
    count: counts[kind] ?? 0,
  })
  return [{ kind: undefined, label: 'All', count: counts.all ?? 0 }, ...kinds.map(chip)]
}

export function countByKind(items: Iterable<Item>): Counts {
  const counts: Record<string, number> & { all: number } = { all: 0 }
  for (const { kind } of items) {
    counts.all += 1
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  return counts
}
