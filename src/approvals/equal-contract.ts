import { expect, onTestFinished, test } from 'vitest'
import { createWorld } from './fixture.ts'
import type { Engine } from './fixture.ts'

/** What holds on both engines where two approvals are about the same call. */
export function equalContract(engine: Engine) {
  async function setup() {
    const world = await createWorld(engine)
    const daemon = await world.start()
    onTestFinished(daemon.stop)
    const first = await daemon.pass({ to: 'a' })
    world.move(1)
    const second = await daemon.pass({ to: 'b' })
    world.move(1)
    await daemon.decide(first.approval.id, 'anna', { change: { to: 'b' } })
    return { ...world, daemon, first: first.approval.id, second: second.approval.id }
  }

  test('B3 A2 what was edited into another call that waits runs once, and the other waits on', async () => {
    const { daemon, first, second } = await setup()
    expect(await daemon.pass({ to: 'a' })).toMatchObject({ as: 'changed', approval: { id: first } })
    expect(await daemon.pass({ to: 'b' })).toMatchObject({ as: 'claimed', approval: { id: first } })
    for (let n = 0; n < 2; n++)
      expect(await daemon.pass({ to: 'b' })).toMatchObject({
        as: 'waiting',
        approval: { id: second },
      })
    await daemon.decide(second)
    expect(await daemon.pass({ to: 'b' })).toMatchObject({
      as: 'claimed',
      approval: { id: second },
    })
  })

  test('B3 A2 of many at once one takes it, and the others wait for the other', async () => {
    const { daemon, second } = await setup()
    const all = await Promise.all(Array.from({ length: 8 }, () => daemon.pass({ to: 'b' })))
    expect(all.filter(({ as }) => as === 'claimed')).toHaveLength(1)
    const waiting = all.filter(({ as }) => as === 'waiting').map(({ approval }) => approval.id)
    expect(waiting).toEqual(Array.from({ length: 7 }, () => second))
  })

  test('B3 A2 one that was edited into it and not called in time asks once more, and not again', async () => {
    const { daemon, move } = await setup()
    move(60 * 60 * 1000)
    const asked = await daemon.pass({ to: 'b' })
    expect(asked).toMatchObject({ as: 'waiting' })
    expect(await daemon.pass({ to: 'b' })).toMatchObject({ approval: { id: asked.approval.id } })
  })
}
