import { demoPairs } from '#base/demo.ts'
import { CoworkError } from '#base/errors.ts'
import { createClient } from '../client.ts'
import type { Client } from '../client.ts'
import type { Context } from '../context.ts'
import { changesTrust } from '../inbox/actions.ts'
import { project, writtenPaths } from './scenes.ts'
import { demoNotes } from './policies.ts'
import { removeReviewer } from './agent.ts'

const reason = 'Demo cleaned up'
/** A change of policy costs no trust. */
const override = { type: 'policy_change', severity: 'low', description: reason }
const agents: readonly string[] = demoPairs.map(({ agent }) => agent)

type Step = (owner: Client) => Promise<number>

/** Ends all that the demo made, each with an entry; the ledger itself stays. A second run finds nothing (K7). */
export async function cleanDemo(context: Context): Promise<void> {
  const { out } = context
  const owner = createClient(context)
  const steps: readonly [name: string, label: string, step: Step][] = [
    ['approvals', 'Requests closed', endApprovals],
    ['permissions', 'Standing permissions revoked', endPermissions],
    ['grants', 'Grants revoked', endGrants],
    ['agents', 'Agents revoked', endAgents],
    ['reviewers', 'Reviewers removed', removeReviewer],
    ['trust', 'Trust scores set to 0', endTrust],
    ['policies', 'Policy versions restored', restorePolicies],
    ['projects', 'Projects unregistered', endProject],
    ['files', 'Files moved to the trash', deleteFiles],
  ]
  const ended: Record<string, number> = {}
  const done: string[] = []
  const left: { what: string; why: string }[] = []
  for (const [name, label, step] of steps)
    try {
      const count = await step(owner)
      ended[name] = count
      if (count > 0) done.push(`${label}: ${count}`)
    } catch (error) {
      if (!(error instanceof CoworkError) || error.code !== 'passkey_required') throw error
      left.push({ what: name, why: error.message })
    }
  const isNothing = done.length + left.length === 0
  out.data({ ended, left }, () =>
    isNothing ? ['Nothing of the demo is left. Its ledger entries stay.'] : done,
  )
  for (const { what, why } of left)
    out.note(`Not done (${what}): ${why} Do it in the console with your passkey.`)
}

async function endEach<One>(items: readonly One[], end: (one: One) => Promise<unknown>) {
  for (const one of items) await end(one)
  return items.length
}

async function endApprovals(owner: Client): Promise<number> {
  let count = 0
  for (const agent of agents) {
    const query = { agent, limit: 1000 }
    const { items } = await owner.get('/api/approvals', query)
    count += await endEach(items, ({ id, kind }) =>
      kind === 'handoff'
        ? owner.call('cowork_resolve_handoff', { handoff_id: id, resolution: reason })
        : owner.call('cowork_decide', {
            approval_ids: [id],
            decision: 'reject',
            reason,
            ...(changesTrust({ kind }) && { override }),
          }),
    )
  }
  return count
}

async function endPermissions(owner: Client): Promise<number> {
  const { permissions } = await owner.call('cowork_list_permissions')
  const theirs = permissions.filter(({ agent_id: agent }) => agents.includes(agent))
  return endEach(theirs, ({ id }) => owner.call('cowork_revoke_permission', { id }))
}

async function endGrants(owner: Client): Promise<number> {
  const { grants } = await owner.call('list_grants')
  const theirs = grants.filter(({ agent }) => agents.includes(agent))
  return endEach(theirs, ({ id }) => owner.call('revoke_grant', { grant_id: id }))
}

async function endAgents(owner: Client): Promise<number> {
  const { agents: all } = await owner.call('cowork_list_agents')
  const theirs = all.filter(({ id, status }) => agents.includes(id) && status === 'active')
  return endEach(theirs, ({ id }) => owner.call('cowork_revoke_agent', { id }))
}

async function endTrust(owner: Client): Promise<number> {
  let count = 0
  for (const { agent, domain } of demoPairs) {
    const query = { agent_id: agent, domain }
    const { trust } = await owner.call('cowork_status', query)
    if (!trust.some(({ trust_level: level }) => level > 0)) continue
    await owner.call('cowork_set_trust', { ...query, score: 0, reason })
    count++
  }
  return count
}

/** Saves the last version before the demo again, unless a person has saved another one since. */
async function restorePolicies(owner: Client): Promise<number> {
  const { active, versions } = await owner.call('cowork_policy_versions')
  const isDemo = ({ note }: { note: string }) => demoNotes.includes(note)
  const current = versions.find(({ version }) => version === active)
  const before = versions.find((one) => !isDemo(one))
  if (!current || !isDemo(current) || !before) return 0
  const { body } = await owner.call('cowork_policy_versions', { version: before.version })
  await owner.call('cowork_save_policies', { body, note: reason, from: active, confirm: true })
  return 1
}

const endProject = (owner: Client) =>
  ifThere(() => owner.call('worksync_unregister_project', { project }))

async function deleteFiles(owner: Client): Promise<number> {
  let count = 0
  for (const path of writtenPaths) count += await ifThere(() => owner.call('delete_file', { path }))
  return count
}

/** 1 where the thing was there, 0 where somebody has ended it already. */
async function ifThere(end: () => Promise<unknown>): Promise<number> {
  try {
    await end()
    return 1
  } catch (error) {
    if (error instanceof CoworkError && /not_found|no_such|unknown/.test(error.code)) return 0
    throw error
  }
}
