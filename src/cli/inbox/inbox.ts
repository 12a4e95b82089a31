import { findApproval, readDetail, readItems } from '../approvals.ts'
import type { Item, Wanted } from '../approvals.ts'
import { agentNamed } from '../agent-named.ts'
import { createClient } from '../client.ts'
import type { Context } from '../context.ts'
import type { ExitCode } from '../exit.ts'
import { table } from '../output.ts'
import { requirePersonHere } from '../person.ts'
import { plain } from '../plain.ts'
import { detailLines, kindName, score, statusName } from './detail.ts'
import { painted, span, wrapped } from './lines.ts'
import { shortIds } from '../prefix.ts'

export type InboxFlags = {
  readonly list?: boolean
  readonly all?: boolean
  readonly kind?: string
  readonly agent?: string
  readonly domain?: string
  readonly lines: number
  readonly json?: boolean
}

const { stdin, stdout } = process

/** What waits for a person: a screen to decide on where there is a terminal, else a list (K6). */
export async function inbox(context: Context, flags: InboxFlags): Promise<ExitCode | void> {
  const { kind, domain, lines } = flags
  const client = createClient(context)
  const agent = flags.agent === undefined ? undefined : await agentNamed(client, flags.agent)
  const wanted: Wanted = { status: flags.all ? 'all' : 'pending', kind, agent, domain }
  if (!hasScreen(context, flags)) return list(context, wanted, lines)
  const { showInbox } = await import('./loop.ts')
  const person = () => requirePersonHere(context, 'Deciding')
  return showInbox({ client, wanted, env: context.env, person, stdin, stdout })
}

/** Whoever asks for decided ones too wants to look something up, not to decide. */
const hasScreen = ({ env }: Context, { list: asList, all, json }: InboxFlags): boolean =>
  !asList &&
  !all &&
  !json &&
  stdin.isTTY === true &&
  stdout.isTTY === true &&
  env['TERM'] !== 'dumb'

async function list(context: Context, wanted: Wanted, count: number): Promise<void> {
  const page = await readItems(createClient(context), wanted, count)
  const { items, next } = page
  context.out.data(page, () =>
    items.length > 0 ? listLines(items, wanted.status === 'all') : ['Nothing waits for you.'],
  )
  if (next !== null) context.out.note('There are more: -n shows them.')
}

/** What a look-back brought is one group: a mistake was found, and these are looked at together (T14). */
function listLines(items: readonly Item[], hasStatus: boolean): string[] {
  const short = shortIds(items.map(({ id }) => id))
  const groups = Map.groupBy(items, (item) => item.look_back)
  const alone = groups.get(undefined) ?? []
  const lines = alone.length > 0 ? tableOf(alone, hasStatus, short) : []
  for (const [back, rows] of groups)
    if (back !== undefined)
      lines.push(
        ...(lines.length > 0 ? [''] : []),
        lookBackText(rows),
        ...tableOf(rows, hasStatus, short),
      )
  return lines
}

function lookBackText(rows: readonly Item[]): string {
  const [first] = rows
  const who = `${plain(first?.requester ?? '')} did alone in ${plain(first?.domain ?? '')}`
  const these = rows.length === 1 ? 'this action' : `these ${rows.length} actions`
  return `A mistake was found in what ${who}: look at ${these}.`
}

function tableOf(
  items: readonly Item[],
  hasStatus: boolean,
  short: (id: string) => string,
): string[] {
  const now = Date.now()
  const status = hasStatus ? ['STATUS'] : []
  const head = ['ID', ...status, 'KIND', 'AGENT', 'DOMAIN', 'MODE', 'RISK', 'TRUST', 'AGE', 'WHAT']
  const rows = items.map((item) => [
    short(item.id),
    ...(hasStatus ? [statusName(item)] : []),
    kindName(item.kind),
    plain(item.requester),
    plain(item.domain),
    item.mode,
    item.risk,
    score(item.trust_level),
    span(now - Date.parse(item.created_at)),
    `${item.held ? '(held) ' : ''}${plain(item.summary)}`,
  ])
  return table(head, rows)
}

/** One of them with everything a person decides by. */
export async function showApproval(
  context: Context,
  given: string,
  kind?: 'handoff',
): Promise<void> {
  const client = createClient(context)
  const { id } = await findApproval(client, given, kind)
  const detail = await readDetail(client, id)
  context.out.data(detail, () =>
    detailLines(detail, Date.now())
      .flatMap((line) => (stdout.isTTY ? wrapped(line, stdout.columns) : [line]))
      .map((line) => painted(line, stdout)),
  )
}
