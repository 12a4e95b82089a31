import { createInterface } from 'node:readline/promises'
import { findApproval, readDetail, readItems } from '../approvals.ts'
import type { ApprovalItem, ApprovalFilter } from '../approvals.ts'
import { approvalKinds } from '#approvals/wire.ts'
import type { Client } from '../client.ts'
import { choice, command, linesOption, flag, localCommand, text } from '../command.ts'
import type { CommandSpec } from '../command.ts'
import { resolveAgent, moreNotes, shortenIds } from '../lookup.ts'
import { sanitize, formatRows } from '../output.ts'
import { hasScreen } from '../terminal.ts'
import { detailLines, formatKind, formatScore, formatStatus } from './detail.ts'
import { fitToTerminal, formatDuration } from './lines.ts'

/** Shows each spot check with its consequences and asks. Returns the ids that the person confirms (T14). */
export async function confirmSpotChecks(
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
      const answer = await terminal.question('Confirm? [y/N] ')
      if (/^y(es)?$/i.test(answer.trim())) confirmed.add(id)
    }
  } finally {
    terminal.close()
  }
  return confirmed
}

const approvalView = {
  run: async (client: Client, given: string, kind?: 'handoff') =>
    readDetail(client, (await findApproval(client, given, kind)).id),
  lines: (detail: Awaited<ReturnType<typeof readDetail>>) =>
    fitToTerminal(detailLines(detail, Date.now())),
}

export const showApproval = (about: { summary: string; kind?: 'handoff' }): CommandSpec =>
  command({
    usage: 'show <id>',
    summary: about.summary,
    run: ({ client, args: [given] }) => approvalView.run(client, given, about.kind),
    show: approvalView.lines,
  })

/** Shows pending items: as a screen on a terminal, otherwise as a list (K6). */
export const inboxCommand = localCommand({
  usage: 'inbox [id]',
  summary: 'review pending items',
  args: { id: { about: 'approval to show' } },
  options: {
    list: flag('--list', 'print the list, even on a terminal'),
    all: flag('--all', 'include decided items'),
    kind: choice('--kind <kind>', 'show only this kind', approvalKinds),
    agent: text('--agent <id>', 'show only this agent'),
    domain: text('--domain <name>', 'show only this domain'),
    lines: linesOption(100),
  },
  async act(call) {
    const { client, env, options, args, out } = call
    const { kind, domain, lines, all, agent } = options
    if (args[0] !== undefined) {
      const detail = await approvalView.run(client, args[0])
      return out.data(detail, () => approvalView.lines(detail))
    }
    const status = all ? 'all' : 'pending'
    const filter: ApprovalFilter = {
      status,
      kind,
      agent: await resolveAgent(client, agent),
      domain,
    }
    // With --all people look items up; only the pending list opens the screen.
    if (!all && hasScreen(call, options)) {
      const { showInbox } = await import('./loop.ts')
      const { requirePersonAtTerminal } = await import('../person.ts')
      const person = () => requirePersonAtTerminal(call, 'Deciding')
      const { stdin, stdout } = process
      return showInbox({ client, query: filter, env, person, stdin, stdout })
    }
    const page = await readItems(client, filter, lines)
    out.data(page, () =>
      page.items.length > 0 ? formatItems(page.items, status === 'all') : ['Inbox is empty.'],
    )
    moreNotes(page.next !== null).forEach(out.note)
  },
  commands: [showApproval({ summary: 'show an item with all details' })],
})

/** Groups the spot checks of one look-back: they follow from the same error (T14). */
function formatItems(items: readonly ApprovalItem[], hasStatus: boolean): string[] {
  const short = shortenIds(items.map(({ id }) => id))
  const groups = Map.groupBy(items, (item) => item.look_back)
  const ungrouped = groups.get(undefined) ?? []
  const lines = ungrouped.length > 0 ? formatItemTable(ungrouped, hasStatus, short) : []
  for (const [back, rows] of groups)
    if (back !== undefined)
      lines.push(
        ...(lines.length > 0 ? [''] : []),
        formatLookBack(rows),
        ...formatItemTable(rows, hasStatus, short),
      )
  return lines
}

function formatLookBack(rows: readonly ApprovalItem[]): string {
  const [first] = rows
  const who = `${sanitize(first?.requester ?? '')} in ${sanitize(first?.domain ?? '')}`
  const actions = rows.length === 1 ? 'this action' : `these ${rows.length} actions`
  return `An error of ${who} was found: check ${actions} too.`
}

function formatItemTable(
  items: readonly ApprovalItem[],
  hasStatus: boolean,
  short: (id: string) => string,
) {
  const now = Date.now()
  return formatRows(items, '', {
    ID: (item) => short(item.id),
    ...(hasStatus && { STATUS: (item: ApprovalItem) => formatStatus(item) }),
    KIND: (item) => formatKind(item.kind),
    AGENT: (item) => item.requester,
    DOMAIN: (item) => item.domain,
    MODE: (item) => item.mode,
    RISK: (item) => item.risk,
    TRUST: (item) => formatScore(item.trust_level),
    AGE: (item) => formatDuration(now - Date.parse(item.created_at)),
    SUMMARY: (item) => `${item.held ? '(undo possible) ' : ''}${item.summary}`,
  })
}
