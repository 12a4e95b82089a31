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
/** An override of this type does not lower trust. */
const override = { type: 'policy_change', severity: 'low', description: reason }
const agents: readonly string[] = demoPairs.map(({ agent }) => agent)

type Step = (owner: Client) => Promise<number>

/** Removes everything the demo created, each with an entry; the ledger stays. Can be repeated (K7). */
export async function cleanDemo(context: Context): Promise<void> {
  const { out } = context
  const owner = createClient(context)
  const steps: readonly [name: string, label: string, step: Step][] = [
    ['approvals', 'Requests closed', closeApprovals],
    ['permissions', 'Standing permissions revoked', revokePermissions],
    ['grants', 'Grants revoked', revokeGrants],
    ['agents', 'Agents revoked', revokeAgents],
    ['reviewers', 'Reviewers removed', removeReviewer],
    ['trust', 'Trust scores set to 0', resetTrust],
    ['policies', 'Policy versions restored', restorePolicies],
    ['projects', 'Projects unregistered', unregisterProject],
    ['files', 'Files moved to the trash', deleteFiles],
  ]
  const ended: Record<string, number> = {}
  const done: string[] = []
  const skipped: { what: string; why: string }[] = []
  for (const [name, label, step] of steps)
    try {
      const count = await step(owner)
      ended[name] = count
      if (count > 0) done.push(`${label}: ${count}`)
    } catch (error) {
      if (!(error instanceof CoworkError) || error.code !== 'passkey_required') throw error
      skipped.push({ what: name, why: error.message })
    }
  const isNothing = done.length + skipped.length === 0
  out.data({ ended, left: skipped }, () =>
    isNothing ? ['No demo data found. Its ledger entries stay.'] : done,
  )
  for (const { what, why } of skipped)
    out.note(`Skipped ${what}: ${why} Use the console and your passkey.`)
}

async function forEachItem<Item>(items: readonly Item[], action: (item: Item) => Promise<unknown>) {
  for (const item of items) await action(item)
  return items.length
}

async function closeApprovals(owner: Client): Promise<number> {
  let count = 0
  for (const agent of agents) {
    const query = { agent, limit: 1000 }
    const { items } = await owner.get('/api/approvals', query)
    count += await forEachItem(items, ({ id, kind }) =>
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

async function revokePermissions(owner: Client): Promise<number> {
  const { permissions } = await owner.call('cowork_list_permissions')
  const demoPermissions = permissions.filter(({ agent_id: agent }) => agents.includes(agent))
  return forEachItem(demoPermissions, ({ id }) => owner.call('cowork_revoke_permission', { id }))
}

async function revokeGrants(owner: Client): Promise<number> {
  const { grants } = await owner.call('list_grants')
  const demoGrants = grants.filter(({ agent }) => agents.includes(agent))
  return forEachItem(demoGrants, ({ id }) => owner.call('revoke_grant', { grant_id: id }))
}

async function revokeAgents(owner: Client): Promise<number> {
  const { agents: all } = await owner.call('cowork_list_agents')
  const demoAgents = all.filter(({ id, status }) => agents.includes(id) && status === 'active')
  return forEachItem(demoAgents, ({ id }) => owner.call('cowork_revoke_agent', { id }))
}

async function resetTrust(owner: Client): Promise<number> {
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

/** Restores the last policy version before the demo, unless a person has saved another one since. */
async function restorePolicies(owner: Client): Promise<number> {
  const { active, versions } = await owner.call('cowork_policy_versions')
  const isDemo = ({ note }: { note: string }) => demoNotes.includes(note)
  const current = versions.find(({ version }) => version === active)
  const before = versions.find((row) => !isDemo(row))
  if (!current || !isDemo(current) || !before) return 0
  const { body } = await owner.call('cowork_policy_versions', { version: before.version })
  await owner.call('cowork_save_policies', { body, note: reason, from: active, confirm: true })
  return 1
}

const unregisterProject = (owner: Client) =>
  countIfFound(() => owner.call('worksync_unregister_project', { project }))

async function deleteFiles(owner: Client): Promise<number> {
  let count = 0
  for (const path of writtenPaths)
    count += await countIfFound(() => owner.call('delete_file', { path }))
  return count
}

/** Returns 1 after the action, or 0 if the object no longer exists. */
async function countIfFound(action: () => Promise<unknown>): Promise<number> {
  try {
    await action()
    return 1
  } catch (error) {
    if (error instanceof CoworkError && /not_found|no_such|unknown/.test(error.code)) return 0
    throw error
  }
}
