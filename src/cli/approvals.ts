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

/** One approval with everything a person decides by (A8). */
export type ApprovalDetail = Omit<RouteAnswers['GET /api/approvals/{id}'], 'grant'> & {
  grant?: GrantRequest
}

/** What the ledger has of an action that was done alone, and what each answer leads to (T14). */
export type Check = NonNullable<ApprovalDetail['check']>

/** What an agent wants to see of the user's files, and what lies there (GR3). The wire leaves its fields open. */
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

/** What an agent gave to a person, with all that was asked and answered about it (H1, H5, H6). */
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
const idsInOneRequest = 200

/** The newest ones, as many as asked for, over as many pages as that takes. */
export async function readItems(
  client: Client,
  wanted: ApprovalFilter,
  count: number,
): Promise<ApprovalPage> {
  const items: ApprovalItem[] = []
  for (let after: string | undefined; ;) {
    const limit = Math.min(count - items.length, pageSize)
    const page = await client.get('/api/approvals', { ...wanted, limit, after })
    items.push(...page.items)
    if (page.next === null || items.length >= count) return { ...page, items }
    after = page.next
  }
}

export async function readByIds(client: Client, ids: readonly string[]): Promise<ApprovalItem[]> {
  const items: ApprovalItem[] = []
  for (let at = 0; at < ids.length; at += idsInOneRequest) {
    const some = ids.slice(at, at + idsInOneRequest).join(',')
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

/** A beginning means one that waits; only where none does, one decided lately. */
export async function findApprovals(
  client: Client,
  given: readonly string[],
  kind?: 'handoff',
): Promise<ApprovalMatch[]> {
  const named = [...new Set(given.map((one) => one.trim().toLowerCase()))]
  const full = named.filter((one) => fullId.test(one))
  const short = named.filter((one) => !fullId.test(one))
  const byId = (await readByIds(client, full)).filter((item) => !kind || item.kind === kind)
  const pending =
    short.length > 0 ? (await readItems(client, { status: 'pending', kind }, Infinity)).items : []
  const waits = (one: string) => pending.some(({ id }) => id.startsWith(one))
  const decided = short.every(waits)
    ? []
    : (await readItems(client, { status: 'decided', kind }, pageSize)).items
  return named.map((one) =>
    foundIn(full.includes(one) ? byId : waits(one) ? pending : decided, one, kind ?? 'approval'),
  )
}

function foundIn(items: readonly ApprovalItem[], given: string, what: string): ApprovalMatch {
  try {
    const id = resolvePrefix(
      given,
      items.map((item) => item.id),
      what,
    )
    const item = items.find((one) => one.id === id)
    if (item) return { given, item }
  } catch (error) {
    if (error instanceof CoworkError && error.code === 'ambiguous_id') return { given, error }
  }
  const error = new CoworkError('not_found', `There is no ${what} whose id begins so: ${given}.`, {
    hint: '`cowork inbox` lists what waits, `cowork inbox --all` what was decided too.',
  })
  return { given, error }
}

export async function findApproval(
  client: Client,
  given: string,
  kind?: 'handoff',
): Promise<ApprovalItem> {
  const [found] = await findApprovals(client, [given], kind)
  if (!found) throw new Error('nothing was looked for')
  if ('error' in found) throw found.error
  return found.item
}

/** How long a call is allowed for, as `cowork_decide` takes it (Y8). */
export type Allowance =
  | { readonly for: 'once' | 'session' | 'always' }
  | { readonly for: 'uses'; readonly uses: number }
  | { readonly for: 'until'; readonly until: string }

const unit: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }
const day = /^\d{4}-\d\d-\d\d$/
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/

/** `once`, `session`, `always`, `uses:3`, `until:2h` or `until:2026-03-01T18:00`. */
export function parseAllowance(text: string, now: number): Allowance {
  if (text === 'once' || text === 'session' || text === 'always') return { for: text }
  const [, uses] = /^uses:([1-9]\d{0,3})$/.exec(text) ?? []
  if (uses !== undefined) return { for: 'uses', uses: Number(uses) }
  const [, until = ''] = /^until:(.+)$/.exec(text) ?? []
  const at = parseTime(until, now)
  if (Number.isNaN(at))
    throw usageError(
      `--allow cannot be ${JSON.stringify(text)}.`,
      'It is once, session, always, uses:<n> or until:<time>, such as until:2h or until:2026-03-01T18:00.',
    )
  if (at <= now) throw usageError(`${until} is over.`, 'Name a time to come.')
  return { for: 'until', until: formatRfc3339(at) }
}

/** A span from now, a moment, or a day, which is meant to its end; NaN for what is none. */
function parseTime(text: string, now: number): number {
  const [, count, name = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? []
  if (count !== undefined) return now + Number(count) * (unit[name] ?? NaN)
  const whole = day.test(text) ? `${text}T23:59:59` : text
  return moment.test(whole) ? Date.parse(whole) : NaN
}

/** How a person answers a request for access, as `cowork_decide` takes it (GR3). */
export type GrantChoice =
  | { readonly choice: GrantOption | 'deny_always' }
  | { readonly choice: 'until'; readonly until: string }

/** What each of them opens, in words; the console has the same. */
export const choiceLabels: Readonly<Record<GrantOption | 'until', string>> = {
  file_once: 'Allow this file once (read, this session)',
  file: 'Allow this file (read)',
  folder_session: 'Allow folder this session (read)',
  until: 'Allow until…',
  folder: 'Allow folder (read)',
  folder_write: 'Allow folder (read-write)',
}

/** `file_once`, `file`, `folder`, `folder_write`, `folder_session` or `until:<time>`; a dash does as well. */
export function parseGrantChoice(text: string, now: number): GrantChoice {
  const word = grantChoices.find((one) => one === text.replaceAll('-', '_'))
  if (word) return { choice: word }
  const [, until] = /^until:(.+)$/.exec(text) ?? []
  if (until === undefined)
    throw usageError(
      `--allow cannot be ${JSON.stringify(text)} for a request for access.`,
      `It is ${grantChoices.map((one) => one.replaceAll('_', '-')).join(', ')} or until:<time>, such as until:2h.`,
    )
  return parseUntil(until, now)
}

/** `2h`, or a moment to come. */
export function parseUntil(text: string, now: number): GrantChoice {
  const at = parseTime(text, now)
  if (Number.isNaN(at))
    throw usageError(
      `${JSON.stringify(text)} is no time.`,
      'Write a span such as 2h or 7d, a day such as 2027-03-01, or 2027-03-01T18:00.',
    )
  if (at <= now) throw usageError(`${text} is over.`, 'Name a time to come.')
  return { choice: 'until', until: formatRfc3339(at) }
}

/** What may be chosen for this request, the narrowest first. Of what was not there only the folder around it. */
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
