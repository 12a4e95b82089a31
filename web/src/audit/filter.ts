import type { Query } from '../api/query-string.ts'
import type { Outcome } from './outcome.ts'

export type Filters = {
  readonly kind?: Kind
  readonly type?: string
  readonly outcome?: Outcome
  readonly actor?: string
  readonly domain?: string
  readonly subject?: string
  readonly q?: string
  /** Local days, inclusive. */
  readonly from?: string
  readonly to?: string
  readonly call?: string
  readonly proposal?: string
}

export const kinds = {
  calls: { label: 'Calls', types: ['call.'] },
  decisions: {
    label: 'Actions',
    types: ['action.', 'proposal.', 'approval.', 'handoff.', 'work.'],
  },
  access: {
    label: 'Access',
    types: [
      'agent.',
      'person.',
      'role.',
      'invitation.',
      'link.',
      'session.',
      'passkey.',
      'auth.',
      'grant.',
    ],
  },
  halts: { label: 'Halts', types: ['halt.'] },
  system: {
    label: 'System',
    types: ['daemon.', 'ledger.', 'payload.', 'note.', 'store.', 'trash.'],
  },
} as const satisfies Record<string, { label: string; types: readonly string[] }>
export type Kind = keyof typeof kinds

export const outcomes: Record<Outcome, readonly string[]> = {
  done: ['call.done'],
  refused: ['call.refused', 'request.refused', 'auth.failed', 'passkey.refused'],
  failed: ['call.failed'],
}

const typeName = /^[a-z][a-z_]*\.([a-z][a-z_]*)?$/
const texts = ['type', 'actor', 'domain', 'subject', 'q', 'call', 'proposal'] as const
const days = ['from', 'to'] as const
export const filterNames = ['kind', 'outcome', ...texts, ...days] as const
export type FilterName = (typeof filterNames)[number]

/** Parses search parameters; invalid values are ignored, so that no link fails. */
export function parseFilters(search: Record<string, unknown>): Filters {
  const text = (name: string) => {
    const param = search[name]
    return typeof param === 'string' && param.trim() !== '' ? param.trim().slice(0, 200) : undefined
  }
  const one = <T extends string>(name: string, from: Record<T, unknown>) => {
    const param = text(name)
    return param !== undefined && Object.hasOwn(from, param) ? (param as T) : undefined
  }
  const found: Record<string, string | undefined> = {
    kind: one('kind', kinds),
    outcome: one('outcome', outcomes),
    ...Object.fromEntries(texts.map((name) => [name, text(name)])),
    type: typeName.test(text('type') ?? '') ? text('type') : undefined,
    ...Object.fromEntries(days.map((name) => [name, parseDay(text(name)) && text(name)])),
  }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined))
}

export function toQuery(filters: Filters): Query {
  const { actor, domain, subject, q, call, proposal, from, to } = filters
  const until = parseDay(to)
  until?.setDate(until.getDate() + 1)
  return {
    type: selectTypes(filters),
    actor,
    domain,
    subject,
    q,
    call,
    proposal,
    since: parseDay(from)?.toISOString(),
    until: until?.toISOString(),
  }
}

/** Combines the filters of kind, type and outcome into entry types. */
function selectTypes({ kind, type, outcome }: Filters): readonly string[] | undefined {
  const selected = type ? [type] : kind && kinds[kind].types
  if (!outcome) return selected
  const ends = outcomes[outcome].filter(
    (end) =>
      selected?.some((each) => (each.endsWith('.') ? end.startsWith(each) : end === each)) ?? true,
  )
  // The filters exclude each other: this type matches no entry.
  return ends.length > 0 ? ends : ['nothing.']
}

function parseDay(day: string | undefined): Date | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? '') ?? []
  if (!year) return undefined
  const at = new Date(Number(year), Number(month) - 1, Number(date))
  return at.getDate() === Number(date) ? at : undefined
}

export function removeFilters(filters: Filters, ...names: readonly FilterName[]): Filters {
  const left = Object.entries(filters).filter(([name]) => !names.some((one) => one === name))
  return Object.fromEntries(left)
}

export const isFiltered = (filters: Filters): boolean => Object.keys(filters).length > 0

/** Counts the filters of the form; kind and text have their own controls. */
export const formCount = (filters: Filters): number =>
  filterNames.filter((name) => name !== 'kind' && name !== 'q' && filters[name] !== undefined)
    .length

/** Parses plain search parameters such as `?actor=sales&q=deal`, without JSON quotes. */
export const parseSearch = (search: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(search))

export function stringifySearch(search: Record<string, unknown>): string {
  const param = Object.entries(search).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== '',
  )
  return param.length > 0 ? `?${new URLSearchParams(param).toString()}` : ''
}
