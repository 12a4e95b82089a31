import { formatRfc3339 } from '#base/clock.ts'
import type { Tx } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import type { EntryDraft } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import { startPeriodicTask } from '#base/periodic-task.ts'
import type { Call } from '#base/tool.ts'
import { leaseHeld } from './project-transaction.ts'
import type { ProjectTransaction, createProjectTransactions } from './project-transaction.ts'
import type { JournalStep, WorkParts } from './journal.ts'
import type { Lease, Story } from './model.ts'
import { findCycleThrough, isLeased, isOpen } from './rules.ts'
import type { Stored } from './store.ts'
import type { ChangeInput } from './tools/shared-schemas.ts'

/** Creates the service for exclusive, time-limited work on stories (W20). */
export function createClaims(act: ReturnType<typeof createProjectTransactions>, ttlMs: number) {
  /**
   * Claims a story. The project row is locked, so exactly one of concurrent claims wins. Renews the
   * lease if the caller has it.
   */
  async function claim(tx: Tx, input: ChangeInput<'worksync_claim'>, call: Call) {
    const { project, story_id: id, ttl_seconds: seconds } = input
    const on = await act(tx, project, call)
    const story = await on.need('story', id)
    const { lease, status, depends_on: needs = [] } = story.item as Story
    const until = formatRfc3339(on.at + (seconds === undefined ? ttlMs : seconds * 1000))
    if (lease && isLeased(story.item, on.at)) {
      if (lease.agent !== on.by) throw leaseHeld(id, lease)
      return renew(on, story, { ...lease, until })
    }
    if (!isOpen({ status }))
      throw new CoworkError('not_open', `Cannot claim ${id}: it is ${status}.`, {
        hint: 'Choose a story from worksync_ready.',
      })
    const open = await openNeeds(on, needs)
    const cycle = open.length > 0 ? await cycleOf(on, id, open) : undefined
    if (cycle)
      throw new CoworkError('dependency_cycle', `Dependency cycle: ${cycle.join(' → ')}.`, {
        hint: 'Remove one of them from depends_on with worksync_update_story.',
        details: { cycle },
      })
    if (open.length > 0)
      throw new CoworkError(
        'dependency_open',
        `${id} depends on open stories: ${open.join(', ')}.`,
        {
          hint: 'Claim one of those first, or choose another story from worksync_ready.',
          details: { waits_for: open },
        },
      )
    if (lease) {
      on.step(expiredStep(story, lease, on.at))
      on.tx.append(expiredDraft(project, id, lease))
    }
    const taken: Lease = {
      agent: on.by,
      session: on.caller.session,
      since: on.time,
      until,
      // Change numbers only grow, so a later claim has a higher fence.
      fence: on.seq() + 1,
    }
    const item = on.set(story, {
      lease: taken,
      ...(status === 'planned' && { status: 'in_progress' }),
    })
    await on.commit('work.claimed', { id, data: { until, fence: taken.fence } })
    return { story: { ...item, sprint_id: story.sprint ?? '' }, lease: taken, renewed: false }
  }

  /** Extends the lease. The change is quiet: the file is not rewritten (W7). */
  async function renew(on: ProjectTransaction, story: Stored, lease: Lease) {
    const item = { ...story.item, id: story.id, lease }
    on.step({ kind: 'story', id: story.id, before: story, after: { item }, quiet: true })
    await on.commit('work.renewed', { id: story.id, data: { until: lease.until } })
    return { story: { ...item, sprint_id: story.sprint ?? '' }, lease, renewed: true }
  }

  async function release(tx: Tx, input: ChangeInput<'worksync_release'>, call: Call) {
    const { project, story_id: id, status, ...guards } = input
    const on = await act(tx, project, call)
    const story = await on.need('story', id)
    on.guard(story, guards)
    const { lease, status: now } = story.item as Story
    if (!lease)
      throw new CoworkError('not_claimed', `${id} is not claimed.`, {
        hint: 'Check the story with worksync_get.',
      })
    const item = on.set(story, {
      lease: undefined,
      status: status ?? (now === 'in_progress' ? 'planned' : now),
    })
    await on.commit('work.released', { id, data: { agent: lease.agent } })
    return { story: { ...item, sprint_id: story.sprint ?? '' } }
  }

  return { claim, release }
}

async function openNeeds(on: ProjectTransaction, needs: readonly string[]): Promise<string[]> {
  const open: string[] = []
  for (const id of needs) {
    const story = await on.find('story', id)
    if (story && isOpen(story.item)) open.push(id)
  }
  return open
}

/** Finds a dependency cycle through the story; people can create one in the file. */
async function cycleOf(
  on: ProjectTransaction,
  id: string,
  needs: readonly string[],
): Promise<string[] | undefined> {
  const known = new Map<string, readonly string[]>()
  const ahead = [...needs]
  for (let one = ahead.pop(); one !== undefined; one = ahead.pop()) {
    if (known.has(one)) continue
    const story = (await on.find('story', one))?.item as Story | undefined
    const further = story && isOpen(story) ? (story.depends_on ?? []) : []
    known.set(one, further)
    ahead.push(...further)
  }
  return findCycleThrough(id, needs, (one) => known.get(one) ?? [])
}

function expiredStep({ id, sprint }: Stored, lease: Lease, at: number): JournalStep {
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

const expiredDraft = (project: string, id: string, lease: Lease): EntryDraft => ({
  type: 'work.lease_expired',
  actor: systemActor,
  domain: 'work',
  subject: `${project}/${id}`,
  data: { agent: lease.agent, until: lease.until, fence: lease.fence },
})

const maxPauseMs = 5000

/** Starts the task that releases expired leases (W20). */
export function startLeaseExpiry({ db, store, journal, now, log }: WorkParts) {
  async function expire(tx: Tx, project: string, id: string): Promise<void> {
    const held = await journal.hold(tx, project)
    const story = await store.item(tx, project, 'story', id)
    const { lease, status } = (story?.item ?? {}) as Partial<Story>
    const at = now()
    if (!story || !lease || isLeased(story.item, at)) return
    const item = { ...story.item, rev: story.rev + 1, updated: formatRfc3339(at), by: 'cowork' }
    const back: Record<string, unknown> = {
      ...item,
      ...(status === 'in_progress' && { status: 'planned' }),
    }
    delete back['lease']
    // A person finished the story in the file, so the lease ends without an expiry entry.
    const isFinished = !isOpen(story.item)
    const steps: JournalStep[] = [
      { kind: 'story', id, before: story, after: { item: back } },
      ...(isFinished ? [] : [expiredStep(story, lease, at)]),
    ]
    await journal.write(tx, held, { by: 'cowork', at }, steps)
    const draft = expiredDraft(project, id, lease)
    tx.append(isFinished ? { ...draft, type: 'work.released' } : draft)
  }

  async function sweep(): Promise<void> {
    for (const { project, id } of await store.expiredLeases(db, now(), 100))
      await db.transact((tx) => expire(tx, project, id))
  }

  const task = startPeriodicTask({
    intervalMs: maxPauseMs,
    async run() {
      await sweep()
      return Math.min(Math.max((await store.nextExpiry(db)) - now(), 100), maxPauseMs)
    },
    failure: 'expired leases not released',
    log,
  })

  return { sweep, close: task.close }
}
