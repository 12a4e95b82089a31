import { expect, onTestFinished, test } from 'vitest'
import { createWorld } from './approvals.fixture.ts'
import type { Engine } from './approvals.fixture.ts'

/** Two approvals of the same call, on both engines. */
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

  test('B3 A2 a request edited into another pending call runs once, and the other stays pending', async () => {
    const { daemon, first, second } = await setup()
    const approved = { as: 'approved', approval: { id: first } }
    expect(await daemon.pass({ to: 'a' })).toMatchObject(approved)
    expect(await daemon.pass({ to: 'b' })).toMatchObject(approved)
    expect(await daemon.resume(first)).toMatchObject({ as: 'claimed' })
    expect(await daemon.pass({ to: 'a' })).toMatchObject({ as: 'used', approval: { id: first } })
    for (let n = 0; n < 2; n++)
      expect(await daemon.pass({ to: 'b' })).toMatchObject({
        as: 'waiting',
        approval: { id: second },
      })
    await daemon.decide(second)
    expect(await daemon.resume(second)).toMatchObject({ as: 'claimed' })
  })

  test('B3 A2 an edited request that did not run in time opens one new request', async () => {
    const { daemon, move } = await setup()
    move(60 * 60 * 1000)
    const asked = await daemon.pass({ to: 'b' })
    expect(asked).toMatchObject({ as: 'waiting' })
    expect(await daemon.pass({ to: 'b' })).toMatchObject({ approval: { id: asked.approval.id } })
  })
}
