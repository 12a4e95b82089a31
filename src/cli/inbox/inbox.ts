import { createInterface } from 'node:readline/promises'
import { findApproval, readDetail, readItems } from '../approvals.ts'
import type { ApprovalItem, ApprovalFilter } from '../approvals.ts'
import { approvalKinds } from '#approvals/wire.ts'
import type { Client } from '../client.ts'
import { choice, command, linesOption, flag, localCommand, text } from '../command.ts'
import type { Entry } from '../command.ts'
import { resolveAgent, moreNotes, shortenIds } from '../lookup.ts'
import { sanitize, tableOf } from '../output.ts'
import { hasScreen } from '../terminal.ts'
import { detailLines, formatKind, score, formatStatus } from './detail.ts'
import { fitToTerminal, formatDuration } from './lines.ts'

/** Shows each check with what follows from it, and asks. Gives the ids of those that the person confirms (T14). */
export async function confirmEach(
  client: Client,
  checks: readonly ApprovalItem[],
): Promise<ReadonlySet<string>> {
  const confirmed = new Set<string>()
  if (checks.length === 0) return confirmed
  const { stdin, stderr } = process
  const terminal = createInterface({ input: stdin, output: stderr })
  try {
    for (const { id } of checks) {
      const detail = await readDetail(client, id)
      const lines = fitToTerminal(detailLines(detail, Date.now()), stderr)
      stderr.write(`${lines.join('\n')}\n\n`)
      const said = await terminal.question('Confirm it? [y/N] ')
      if (/^y(es)?$/i.test(said.trim())) confirmed.add(id)
    }
  } finally {
    terminal.close()
  }
  return confirmed
}

const shown = {
  run: async (client: Client, given: string, kind?: 'handoff') =>
    readDetail(client, (await findApproval(client, given, kind)).id),
  lines: (detail: Awaited<ReturnType<typeof readDetail>>) =>
    fitToTerminal(detailLines(detail, Date.now())),
}

export const showApproval = (about: { summary: string; kind?: 'handoff' }): Entry =>
  command({
    usage: 'show <id>',
    summary: about.summary,
    run: ({ client, args: [given] }) => shown.run(client, given, about.kind),
    show: shown.lines,
  })

/** What waits for a person: a screen to decide on where there is a terminal, else a list (K6). */
export const inboxCommand = localCommand({
  usage: 'inbox [id]',
  summary: 'what waits for you: decide it by keys, or list it',
  args: { id: { about: 'show this one' } },
  options: {
    list: flag('--list', 'print the list, on a terminal too'),
    all: flag('--all', 'list what was decided too'),
    kind: choice('--kind <kind>', 'only of this kind', approvalKinds),
    agent: text('--agent <id>', 'only of this agent'),
    domain: text('--domain <name>', 'only in this domain'),
    lines: linesOption(100),
  },
  async act(call) {
    const { client, env, options, args, out } = call
    const { kind, domain, lines, all, agent } = options
    if (args[0] !== undefined) {
      const detail = await shown.run(client, args[0])
      return out.data(detail, () => shown.lines(detail))
    }
    const status = all ? 'all' : 'pending'
    const wanted: ApprovalFilter = {
      status,
      kind,
      agent: await resolveAgent(client, agent),
      domain,
    }
    // Whoever asks for decided ones too wants to look something up, not to decide.
    if (!all && hasScreen(call, options)) {
      const { showInbox } = await import('./loop.ts')
      const { requirePersonAtTerminal } = await import('../person.ts')
      const person = () => requirePersonAtTerminal(call, 'Deciding')
      const { stdin, stdout } = process
      return showInbox({ client, wanted, env, person, stdin, stdout })
    }
    const page = await readItems(client, wanted, lines)
    out.data(page, () =>
      page.items.length > 0 ? listLines(page.items, status === 'all') : ['Nothing waits for you.'],
    )
    moreNotes(page.next !== null).forEach(out.note)
  },
  commands: [showApproval({ summary: 'one of them, with why it is asked' })],
})

/** What a look-back brought is one group: a mistake was found, and these are looked at together (T14). */
function listLines(items: readonly ApprovalItem[], hasStatus: boolean): string[] {
  const short = shortenIds(items.map(({ id }) => id))
  const groups = Map.groupBy(items, (item) => item.look_back)
  const alone = groups.get(undefined) ?? []
  const lines = alone.length > 0 ? itemTable(alone, hasStatus, short) : []
  for (const [back, rows] of groups)
    if (back !== undefined)
      lines.push(
        ...(lines.length > 0 ? [''] : []),
        lookBackText(rows),
        ...itemTable(rows, hasStatus, short),
      )
  return lines
}

function lookBackText(rows: readonly ApprovalItem[]): string {
  const [first] = rows
  const who = `${sanitize(first?.requester ?? '')} did alone in ${sanitize(first?.domain ?? '')}`
  const these = rows.length === 1 ? 'this action' : `these ${rows.length} actions`
  return `A mistake was found in what ${who}: look at ${these}.`
}

function itemTable(
  items: readonly ApprovalItem[],
  hasStatus: boolean,
  short: (id: string) => string,
) {
  const now = Date.now()
  return tableOf(items, '', {
    ID: (item) => short(item.id),
    ...(hasStatus && { STATUS: (item: ApprovalItem) => formatStatus(item) }),
    KIND: (item) => formatKind(item.kind),
    AGENT: (item) => item.requester,
    DOMAIN: (item) => item.domain,
    MODE: (item) => item.mode,
    RISK: (item) => item.risk,
    TRUST: (item) => score(item.trust_level),
    AGE: (item) => formatDuration(now - Date.parse(item.created_at)),
    WHAT: (item) => `${item.held ? '(held) ' : ''}${item.summary}`,
  })
}
