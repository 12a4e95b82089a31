import { agentNamed } from './agent-named.ts'
import { readByIds } from './approvals.ts'
import { createClient } from './client.ts'
import type { Context } from './context.ts'
import { outcomeLine } from './decide.ts'
import type { ApproveFlags, Outcome } from './decide.ts'
import { exitCode, usage } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { requirePersonHere } from './person.ts'

type Batch = {
  batch_id: string
  count: number
  approved: number
  outcomes: (Omit<Outcome, 'id'> & { proposal_id: string })[]
  errors: { proposal_id: string; code: string; message: string }[]
  message: string
}

export type BulkFlags = ApproveFlags & {
  readonly agent?: string
  readonly domain?: string
  readonly expect?: number
}

/** Approves all proposals of an agent or a domain that wait, if they are as many as the person saw (B2). */
export async function approveAll(context: Context, flags: BulkFlags): Promise<ExitCode> {
  const { agent, domain, expect, feedback } = flags
  if ((agent ?? domain) === undefined)
    throw usage(
      'Say what to approve.',
      'Name ids, or --agent or --domain with --expect; `cowork inbox --list` shows what waits.',
    )
  if (expect === undefined)
    throw usage(
      'Approving all that wait says how many that is (--expect), so that none slips in.',
      '`cowork inbox --list --kind proposal` with --agent and --domain shows them.',
    )
  const single = [flags.allow, flags.change, flags.policy, flags.acknowledgePolicy]
  if (single.some((given) => given !== undefined))
    throw usage(
      '--allow, --change, --policy and --acknowledge-policy are for one approval at a time.',
      'Name its id.',
    )
  requirePersonHere(context, 'Approving')
  const client = createClient(context, {
    count_differs: {
      hint: '`cowork inbox --list --kind proposal` shows them; give their number as --expect, 1000 at most.',
    },
  })
  const batch = await client.call<Batch>('cowork_bulk_approve', {
    ...(agent !== undefined && { filter_agent_id: await agentNamed(client, agent) }),
    ...(domain !== undefined && { filter_domain: domain }),
    expected_count: expect,
    ...(feedback !== undefined && { feedback }),
  })
  const outcomes: Outcome[] = [
    ...batch.outcomes.map(({ proposal_id: id, ...outcome }) => ({ id, ...outcome })),
    ...batch.errors.map(({ proposal_id: id, ...error }) => ({
      id,
      status: 'error' as const,
      error,
    })),
  ]
  const items = await readByIds(
    client,
    outcomes.map(({ id }) => id),
  )
  context.out.data(batch, () => [
    ...outcomes.map((outcome) =>
      outcomeLine(
        outcome,
        items.find(({ id }) => id === outcome.id),
      ),
    ),
    batch.message,
  ])
  return batch.errors.length > 0 ? exitCode.failed : exitCode.ok
}
