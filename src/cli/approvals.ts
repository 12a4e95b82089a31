import { formatRfc3339 } from '#base/clock.ts'
import { CoworkError } from '#base/errors.ts'
import type { RouteAnswers, ToolResults } from '#wire'
import { grantChoices } from './choices.ts'
import type { GrantOption } from './choices.ts'
import type { Client } from './client.ts'
import { usageError } from './exit.ts'
import { resolvePrefix } from './lookup.ts'

export type ApprovalItem = ApprovalPage['items'][number]

export const isCheck = ({ kind }: Pick<ApprovalItem, 'kind'>): boolean => kind === 'spot_check'

/** One approval with all data for the decision (A8). */
export type ApprovalDetail = Omit<RouteAnswers['GET /api/approvals/{id}'], 'grant'> & {
  grant?: GrantRequest
}

/** Recorded data of an autonomous action, and the effect of each decision (T14). */
export type Check = NonNullable<ApprovalDetail['check']>

/** Access that an agent requests, and the contents of the path (GR3). The wire schema leaves the fields open. */
export type GrantRequest = {
  path: string
  real: string
  permission: string
  is_folder: boolean
  missing: boolean
  folder: string | null
  inside: {
    files: number
    folders: number
    bytes: number
    sample: string[]
    capped: boolean
  } | null
  sensitive: string[]
  warning?: string
}

/** A handoff with its questions and answers (H1, H5, H6). */
export type Handoff = NonNullable<ApprovalDetail['handoff']>

type DecisionOutcome = ToolResults['cowork_decide']['outcomes'][number]
type UndoOutcome = ToolResults['cowork_undo']['outcomes'][number]

export type Outcome = Omit<DecisionOutcome, 'status'> &
  Pick<DecisionOutcome | UndoOutcome, 'status'>

export type ApprovalPage = RouteAnswers['GET /api/approvals']

export type ApprovalFilter = {
  readonly status?: 'pending' | 'decided' | 'all'
  readonly kind?: string | undefined
  readonly agent?: string | undefined
  readonly domain?: string | undefined
  readonly q?: string | undefined
}

const pageSize = 1000
const maxIdsPerRequest = 200

/** Reads the newest `count` items, over as many pages as needed. */
export async function readItems(
  client: Client,
  filter: ApprovalFilter,
  count: number,
): Promise<ApprovalPage> {
  const items: ApprovalItem[] = []
  for (let after: string | undefined; ;) {
    const limit = Math.min(count - items.length, pageSize)
    const page = await client.get('/api/approvals', { ...filter, limit, after })
    items.push(...page.items)
    if (page.next === null || items.length >= count) return { ...page, items }
    after = page.next
  }
}

export async function readByIds(client: Client, ids: readonly string[]): Promise<ApprovalItem[]> {
  const items: ApprovalItem[] = []
  for (let at = 0; at < ids.length; at += maxIdsPerRequest) {
    const some = ids.slice(at, at + maxIdsPerRequest).join(',')
    items.push(...(await client.get('/api/approvals', { ids: some })).items)
  }
  return items
}

export const readDetail = async (client: Client, id: string): Promise<ApprovalDetail> =>
  (await client.get('/api/approvals/{id}', { id })) as ApprovalDetail

export type ApprovalMatch =
  | { readonly given: string; readonly item: ApprovalItem }
  | { readonly given: string; readonly error: CoworkError }

const fullId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Finds approvals by id or id prefix. A prefix matches pending items first, then recently decided ones. */
export async function findApprovals(
  client: Client,
  given: readonly string[],
  kind?: 'handoff',
): Promise<ApprovalMatch[]> {
  const names = [...new Set(given.map((name) => name.trim().toLowerCase()))]
  const full = names.filter((name) => fullId.test(name))
  const short = names.filter((name) => !fullId.test(name))
  const byId = (await readByIds(client, full)).filter((item) => !kind || item.kind === kind)
  const pending =
    short.length > 0 ? (await readItems(client, { status: 'pending', kind }, Infinity)).items : []
  const isPending = (prefix: string) => pending.some(({ id }) => id.startsWith(prefix))
  const decided = short.every(isPending)
    ? []
    : (await readItems(client, { status: 'decided', kind }, pageSize)).items
  return names.map((name) =>
    matchApproval(
      full.includes(name) ? byId : isPending(name) ? pending : decided,
      name,
      kind ?? 'approval',
    ),
  )
}

function matchApproval(items: readonly ApprovalItem[], given: string, noun: string): ApprovalMatch {
  try {
    const id = resolvePrefix(
      given,
      items.map((item) => item.id),
      noun,
    )
    const item = items.find((candidate) => candidate.id === id)
    if (item) return { given, item }
  } catch (error) {
    if (error instanceof CoworkError && error.code === 'ambiguous_id') return { given, error }
  }
  const error = new CoworkError('not_found', `Unknown ${noun}: ${given}.`, {
    hint: 'Run `cowork inbox` for pending items, or `cowork inbox --all` for decided ones too.',
  })
  return { given, error }
}

export async function findApproval(
  client: Client,
  given: string,
  kind?: 'handoff',
): Promise<ApprovalItem> {
  const [match] = await findApprovals(client, [given], kind)
  if (!match) throw new Error('no id was passed')
  if ('error' in match) throw match.error
  return match.item
}

/** Lifetime of a permission, in the form of `cowork_decide` (Y8). */
export type Allowance =
  | { readonly for: 'once' | 'session' | 'always' }
  | { readonly for: 'uses'; readonly uses: number }
  | { readonly for: 'until'; readonly until: string }

const msPerUnit: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }
const day = /^\d{4}-\d\d-\d\d$/
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/

/** Parses `once`, `session`, `always`, `uses:3`, `until:2h` or `until:2026-03-01T18:00`. */
export function parseAllowance(text: string, now: number): Allowance {
  if (text === 'once' || text === 'session' || text === 'always') return { for: text }
  const [, uses] = /^uses:([1-9]\d{0,3})$/.exec(text) ?? []
  if (uses !== undefined) return { for: 'uses', uses: Number(uses) }
  const [, until = ''] = /^until:(.+)$/.exec(text) ?? []
  const at = parseTime(until, now)
  if (Number.isNaN(at))
    throw usageError(
      `Invalid --allow: ${JSON.stringify(text)}.`,
      'Use once, session, always, uses:<n> or until:<time>, such as until:2h or until:2026-03-01T18:00.',
    )
  if (at <= now) throw usageError(`Time is in the past: ${until}.`, 'Use a future time.')
  return { for: 'until', until: formatRfc3339(at) }
}

/** Parses a duration from now, a time, or a day (its end). Returns NaN for other text. */
function parseTime(text: string, now: number): number {
  const [, count, name = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? []
  if (count !== undefined) return now + Number(count) * (msPerUnit[name] ?? NaN)
  const full = day.test(text) ? `${text}T23:59:59` : text
  return moment.test(full) ? Date.parse(full) : NaN
}

/** Decision on an access request, in the form of `cowork_decide` (GR3). */
export type GrantChoice =
  | { readonly choice: GrantOption | 'deny_always' }
  | { readonly choice: 'until'; readonly until: string }

/** Labels of the choices, the same as in the console. */
export const choiceLabels: Readonly<Record<GrantOption | 'until', string>> = {
  file_once: 'Allow Once (read, this session)',
  file: 'Allow This File (read)',
  folder_session: 'Allow folder this session (read)',
  until: 'Allow until…',
  folder: 'Allow Folder (read)',
  folder_write: 'Allow Folder (Read-Write)',
}

/** Parses a choice, with dashes or underscores: `file_once`, `file`, `folder`, …, or `until:<time>`. */
export function parseGrantChoice(text: string, now: number): GrantChoice {
  const option = grantChoices.find((name) => name === text.replaceAll('-', '_'))
  if (option) return { choice: option }
  const [, until] = /^until:(.+)$/.exec(text) ?? []
  if (until === undefined)
    throw usageError(
      `Invalid --allow for an access request: ${JSON.stringify(text)}.`,
      `Use ${grantChoices.map((name) => name.replaceAll('_', '-')).join(', ')} or until:<time>, such as until:2h.`,
    )
  return parseUntil(until, now)
}

/** Parses `2h`, or a future time. */
export function parseUntil(text: string, now: number): GrantChoice {
  const at = parseTime(text, now)
  if (Number.isNaN(at))
    throw usageError(
      `Invalid time: ${JSON.stringify(text)}.`,
      'Use a duration such as 2h or 7d, a day such as 2027-03-01, or 2027-03-01T18:00.',
    )
  if (at <= now) throw usageError(`Time is in the past: ${text}.`, 'Use a future time.')
  return { choice: 'until', until: formatRfc3339(at) }
}

/** Lists the choices for a request, narrowest first. A missing path offers only the folder around it. */
export function listGrantChoices({
  grant,
}: Pick<ApprovalDetail, 'grant'>): (GrantOption | 'until')[] {
  if (!grant) return []
  const { is_folder: isFolder, missing, folder } = grant
  return [
    ...(isFolder || missing ? [] : (['file_once', 'file'] as const)),
    ...(folder === null ? [] : (['folder_session'] as const)),
    ...(missing ? [] : (['until'] as const)),
    ...(folder === null ? [] : (['folder', 'folder_write'] as const)),
  ]
}
