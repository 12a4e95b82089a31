import { formatRfc3339 } from '#base/clock.ts'
import type { Tx } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import type { EntryDraft } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import { startPeriodicTask } from '#base/periodic-task.ts'
import type { Call } from '#base/tool.ts'
import { leaseHeldError } from './project-transaction.ts'
import type { ProjectTransaction, createProjectTransactions } from './project-transaction.ts'
import type { JournalStep, WorkParts } from './journal.ts'
import type { Lease, Story } from './model.ts'
import { findCycleThrough, isLeased, isOpen } from './rules.ts'
import type { Stored } from './store.ts'
import type { ChangeInput } from './tools/shared-schemas.ts'

/** Creates the service for exclusive, time-limited work on stories (W20). */
export function createClaims(
  openTransaction: ReturnType<typeof createProjectTransactions>,
  ttlMs: number,
) {
  /**
   * Claims a story. The project row is locked, so exactly one of concurrent claims wins. Renews the
   * lease if the caller has it.
   */
  async function claim(tx: Tx, input: ChangeInput<'worksync_claim'>, call: Call) {
    const { project, story_id: id, ttl_seconds: seconds } = input
    const projectTx = await openTransaction(tx, project, call)
    const story = await projectTx.getOrThrow('story', id)
    const { lease, status, depends_on: dependencies = [] } = story.item as Story
    const until = formatRfc3339(projectTx.at + (seconds === undefined ? ttlMs : seconds * 1000))
    if (lease && isLeased(story.item, projectTx.at)) {
      if (lease.agent !== projectTx.by) throw leaseHeldError(id, lease)
      return renew(projectTx, story, { ...lease, until })
    }
    if (!isOpen({ status }))
      throw new CoworkError('not_open', `Cannot claim ${id}: it is ${status}.`, {
        hint: 'Choose a story from worksync_ready.',
      })
    const open = await listOpenDependencies(projectTx, dependencies)
    const cycle = open.length > 0 ? await findOpenCycle(projectTx, id, open) : undefined
    if (cycle)
      throw new CoworkError('dependency_cycle', `Dependency cycle: ${cycle.join(' → ')}.`, {
        hint: 'Remove one dependency of the cycle with worksync_update_story.',
        details: { cycle },
      })
    if (open.length > 0)
      throw new CoworkError(
        'dependency_open',
        `${id} depends on open stories: ${open.join(', ')}.`,
        {
          hint: 'Claim an open dependency first, or choose another story from worksync_ready.',
          details: { waits_for: open },
        },
      )
    if (lease) {
      projectTx.addStep(buildExpiryStep(story, lease, projectTx.at))
      projectTx.tx.append(buildExpiryEntry(project, id, lease))
    }
    const newLease: Lease = {
      agent: projectTx.by,
      session: projectTx.caller.session,
      since: projectTx.time,
      until,
      // Change numbers only grow, so a later claim has a higher fence.
      fence: projectTx.seq() + 1,
    }
    const item = projectTx.set(story, {
      lease: newLease,
      ...(status === 'planned' && { status: 'in_progress' }),
    })
    await projectTx.commit('work.claimed', { id, data: { until, fence: newLease.fence } })
    return { story: { ...item, sprint_id: story.sprint ?? '' }, lease: newLease, renewed: false }
  }

  /** Extends the lease. The change is quiet: the file is not rewritten (W7). */
  async function renew(projectTx: ProjectTransaction, story: Stored, lease: Lease) {
    const item = { ...story.item, id: story.id, lease }
    projectTx.addStep({ kind: 'story', id: story.id, before: story, after: { item }, quiet: true })
    await projectTx.commit('work.renewed', { id: story.id, data: { until: lease.until } })
    return { story: { ...item, sprint_id: story.sprint ?? '' }, lease, renewed: true }
  }

  async function release(tx: Tx, input: ChangeInput<'worksync_release'>, call: Call) {
    const { project, story_id: id, status, ...guards } = input
    const projectTx = await openTransaction(tx, project, call)
    const story = await projectTx.getOrThrow('story', id)
    projectTx.checkPreconditions(story, guards)
    const { lease, status: now } = story.item as Story
    if (!lease)
      throw new CoworkError('not_claimed', `${id} is not claimed.`, {
        hint: 'Check the story with worksync_get.',
      })
    const item = projectTx.set(story, {
      lease: undefined,
      status: status ?? (now === 'in_progress' ? 'planned' : now),
    })
    await projectTx.commit('work.released', { id, data: { agent: lease.agent } })
    return { story: { ...item, sprint_id: story.sprint ?? '' } }
  }

  return { claim, release }
}

async function listOpenDependencies(
  projectTx: ProjectTransaction,
  dependencies: readonly string[],
): Promise<string[]> {
  const open: string[] = []
  for (const id of dependencies) {
    const story = await projectTx.find('story', id)
    if (story && isOpen(story.item)) open.push(id)
  }
  return open
}

/** Finds a dependency cycle through the story; people can create one in the file. */
async function findOpenCycle(
  projectTx: ProjectTransaction,
  id: string,
  dependencies: readonly string[],
): Promise<string[] | undefined> {
  const dependenciesById = new Map<string, readonly string[]>()
  const queue = [...dependencies]
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (dependenciesById.has(next)) continue
    const story = (await projectTx.find('story', next))?.item as Story | undefined
    const storyDependencies = story && isOpen(story) ? (story.depends_on ?? []) : []
    dependenciesById.set(next, storyDependencies)
    queue.push(...storyDependencies)
  }
  return findCycleThrough(id, dependencies, (one) => dependenciesById.get(one) ?? [])
}

function buildExpiryStep({ id, sprint }: Stored, lease: Lease, at: number): JournalStep {
  const item = {
    date: formatRfc3339(at).slice(0, 10),
    summary: `Claim of ${id} by ${lease.agent} expired`,
    related_sprints: sprint === null ? [] : [sprint],
    kind: 'lease_expired',
    ref: id,
    at: formatRfc3339(at),
    by: lease.agent,
  }
  return { kind: 'history', id: newId(), before: undefined, after: { item } }
}

const buildExpiryEntry = (project: string, id: string, lease: Lease): EntryDraft => ({
  type: 'work.lease_expired',
  actor: systemActor,
  domain: 'work',
  subject: `${project}/${id}`,
  data: { agent: lease.agent, until: lease.until, fence: lease.fence },
})

const maxIntervalMs = 5000

/** Starts the task that releases expired leases (W20). */
export function startLeaseExpiry({ db, store, journal, now, log }: WorkParts) {
  async function expire(tx: Tx, project: string, id: string): Promise<void> {
    const row = await journal.lockProject(tx, project)
    const story = await store.item(tx, project, 'story', id)
    const { lease, status } = (story?.item ?? {}) as Partial<Story>
    const expiredAt = now()
    if (!story || !lease || isLeased(story.item, expiredAt)) return
    const item = {
      ...story.item,
      rev: story.rev + 1,
      updated: formatRfc3339(expiredAt),
      by: 'cowork',
    }
    const released: Record<string, unknown> = {
      ...item,
      ...(status === 'in_progress' && { status: 'planned' }),
    }
    delete released['lease']
    // A person finished the story in the file, so the lease ends without an expiry entry.
    const isFinished = !isOpen(story.item)
    const steps: JournalStep[] = [
      { kind: 'story', id, before: story, after: { item: released } },
      ...(isFinished ? [] : [buildExpiryStep(story, lease, expiredAt)]),
    ]
    await journal.write(tx, row, { by: 'cowork', at: expiredAt }, steps)
    const draft = buildExpiryEntry(project, id, lease)
    tx.append(isFinished ? { ...draft, type: 'work.released' } : draft)
  }

  async function sweep(): Promise<void> {
    for (const { project, id } of await store.expiredLeases(db, now(), 100))
      await db.transact((tx) => expire(tx, project, id))
  }

  const task = startPeriodicTask({
    intervalMs: maxIntervalMs,
    async run() {
      await sweep()
      return Math.min(Math.max((await store.nextExpiry(db)) - now(), 100), maxIntervalMs)
    },
    failure: 'expired leases not released',
    log,
  })

  return { sweep, close: task.close }
}
