import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anna, createWorld, parsed, sales, findStory, support } from './work.fixture.ts'
import type { Desk, Engine, World } from './work.fixture.ts'
import type { HistoryEntry } from '../../src/work/model.ts'

const project = 'shop'
const minute = 60_000

/** Contract of claims, on both engines. */
export function claimsContract(engine: Engine) {
  describe(`claims on ${engine.dialect}`, () => {
    let world: World
    let desk: Desk
    let other: Desk
    const ask: Desk['ask'] = (...args) => desk.ask(...args)
    const add = async (more: object = {}) =>
      (await ask('add_story', { project, sprint_id: 'one', title: 'A story', ...more })).story.id
    const claim = (story_id: string, caller = sales, more: object = {}, at = desk) =>
      at.ask('claim', { project, story_id, ...more }, caller)
    const story = async (story_id: string) => (await ask('get', { project, story_id })).story
    const history = async () =>
      (await ask('history', { project }))['history'] as readonly HistoryEntry[]
    const ready = async () =>
      ((await ask('ready', { project, limit: 1000 }))['stories'] as { id: string }[]).map(
        ({ id }) => id,
      )

    beforeAll(async () => {
      world = await createWorld(engine)
      desk = await world.start()
      other = engine.dialect === 'postgres' ? await world.start() : desk
      await ask('register_project', { project })
      for (const sprint_id of ['one', 'two', 'three'])
        await ask('create_sprint', { project, sprint_id, status: 'active' })
    })
    afterAll(async () => {
      if (other !== desk) await other.stop()
      await desk.stop()
    })

    test('W20 exactly one of concurrent claims wins', async () => {
      const id = await add()
      const racers = Array.from({ length: 16 }, (_, n) => ({ ...sales, id: `racer-${n}` }))
      const made = await Promise.allSettled(
        racers.map((racer, n) => claim(id, racer, {}, n % 2 === 0 ? desk : other)),
      )
      const won = made.filter(({ status }) => status === 'fulfilled')
      expect(won).toHaveLength(1)
      for (const lost of made)
        if (lost.status === 'rejected')
          expect(lost.reason).toMatchObject({
            code: 'lease_held',
            details: { lease: { agent: expect.stringContaining('racer-') } },
          })
      const claimed = (await desk.entries()).filter(
        ({ type, subject }) => type === 'work.claimed' && subject === `${project}/${id}`,
      )
      expect(claimed).toHaveLength(1)
    })

    test('W20 I5 agents with a shared key are distinguished by their self-declared names', async () => {
      const id = await add()
      const shared = { ...sales, id: 'worksync' }
      const [claude, codex] = [
        { ...shared, claim: 'claude' },
        { ...shared, claim: 'codex' },
      ]
      expect((await claim(id, claude)).lease).toMatchObject({ agent: 'worksync:claude' })
      await expect(claim(id, codex)).rejects.toMatchObject({ code: 'lease_held' })
      await expect(ask('done', { project, story_id: id }, codex)).rejects.toMatchObject({
        code: 'lease_held',
      })
      const { id: call } = await desk.call('done', { project, story_id: id }, claude)
      expect((await story(id)).by).toBe('worksync:claude')
      const entry = (await desk.entries()).find(({ ids }) => ids?.call === call)
      expect(entry?.actor).toMatchObject({ kind: 'agent', id: 'worksync' })
    })

    test('W20 only the holder can renew a claim, and renewing does not change the file', async () => {
      const id = await add()
      const first = await claim(id, sales, { ttl_seconds: 60 })
      const text = await desk.text(project)
      world.move(30_000)
      const again = await claim(id, sales, { ttl_seconds: 60 })
      expect(again).toMatchObject({
        renewed: true,
        lease: { fence: first.lease.fence, agent: 'sales' },
        story: { rev: first.story.rev },
      })
      expect(Date.parse(again.lease.until) - Date.parse(first.lease.until)).toBeGreaterThan(29_000)
      expect(await desk.text(project)).toBe(text)
      await expect(claim(id, support)).rejects.toMatchObject({ code: 'lease_held' })
      const shown = await other.ask('get', { project, story_id: id })
      expect(shown.story.lease?.until).toBe(again.lease.until)
    })

    test('W20 an expired claim releases the story once, with a history entry', async () => {
      const id = await add()
      const { lease } = await claim(id)
      expect((await story(id)).status).toBe('in_progress')
      expect(await ready()).not.toContain(id)
      world.move(16 * minute)
      expect(await ready()).toContain(id)
      await Promise.all([desk.sweep(), other.sweep()])
      expect(await story(id)).toMatchObject({ status: 'planned', by: 'cowork' })
      expect(await story(id)).not.toHaveProperty('lease')
      const expiries = (await history()).filter(({ ref }) => ref === id)
      expect(expiries).toMatchObject([{ kind: 'lease_expired', by: 'sales' }])
      const entries = (await desk.entries()).filter(
        ({ type, subject }) => type === 'work.lease_expired' && subject === `${project}/${id}`,
      )
      expect(entries).toMatchObject([
        { actor: { kind: 'system' }, data: { agent: 'sales', fence: lease.fence } },
      ])
      const index = parsed(await desk.text(project))
      expect(findStory(index, id)).not.toHaveProperty('lease')
      expect(index.history.filter(({ ref }) => ref === id)).toHaveLength(1)
    })

    test('W20 a claim has a higher fence than earlier ones, and an older fence is refused', async () => {
      const id = await add()
      const change = (fence: number, caller = sales) =>
        ask('update_story', { project, story_id: id, notes: `${fence}`, fence }, caller)
      const first = (await claim(id)).lease.fence
      await change(first)
      world.move(16 * minute)
      await desk.sweep()
      // The story is unclaimed, but the former holder must not continue with the old fence.
      await expect(change(first)).rejects.toMatchObject({ code: 'stale_fence' })
      const second = (await claim(id, support)).lease.fence
      expect(second).toBeGreaterThan(first)
      await expect(change(first)).rejects.toMatchObject({ code: 'lease_held' })
      await expect(change(first, support)).rejects.toMatchObject({
        code: 'stale_fence',
        details: { lease: { fence: second } },
      })
      await change(second, support)
      await ask('release', { project, story_id: id, fence: second }, support)
      const third = (await claim(id)).lease.fence
      await expect(change(first)).rejects.toMatchObject({ code: 'stale_fence' })
      await change(third)
      for (const tool of ['done', 'release'])
        await expect(ask(tool, { project, story_id: id, fence: second })).rejects.toMatchObject({
          code: 'stale_fence',
        })
    })

    test('W20 a claim needs an open story without open dependencies', async () => {
      const [needed, id] = [await add(), await add()]
      await ask('update_story', { project, story_id: id, depends_on: [needed] })
      expect(await ready()).not.toContain(id)
      await expect(claim(id)).rejects.toMatchObject({
        code: 'dependency_open',
        details: { waits_for: [needed] },
      })
      await ask('update_story', { project, story_id: needed, status: 'dropped' })
      expect(await ready()).toContain(id)
      await claim(id)
      await expect(claim(needed)).rejects.toMatchObject({ code: 'not_open' })
    })

    test('W20 the holder or a person can release a claim, to planned or a given status', async () => {
      const id = await add()
      const release = (caller = sales, more: object = {}) =>
        ask('release', { project, story_id: id, ...more }, caller)
      await expect(release()).rejects.toMatchObject({ code: 'not_claimed' })
      await claim(id)
      await expect(release(support)).rejects.toMatchObject({ code: 'lease_held' })
      expect((await release()).story.status).toBe('planned')
      await claim(id, support)
      const { story: left } = await release(anna, { status: 'blocked' })
      expect(left.status).toBe('blocked')
      expect(left).not.toHaveProperty('lease')
    })

    test('W20 ready stories are ordered by priority, then by file order', async () => {
      await ask('create_sprint', { project, sprint_id: 'ranks', status: 'active' })
      const made = []
      for (const priority of ['low', undefined, 'urgent', 'high', 'medium', 'urgent'])
        made.push(await add({ sprint_id: 'ranks', priority }))
      const { stories } = (await ask('ready', { project, sprint_id: 'ranks' })) as unknown as {
        stories: { id: string }[]
      }
      const [low, usual, urgent, high, medium, second] = made
      expect(stories.map(({ id }) => id)).toEqual([urgent, second, high, usual, medium, low])
    })
  })
}
