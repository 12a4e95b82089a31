import { describe, expect, test } from 'vitest'
import { systemActor } from '#base/entry.ts'
import { startReceiver } from './notify.fixture.ts'
import { createSetup } from './service.fixture.ts'
import type { Engine } from './service.fixture.ts'

const hour = 3_600_000

/** The daily checkpoint on both engines (L15). */
export function checkpointContract(engine: Engine) {
  const setup = createSetup(engine)

  describe(`the daily checkpoint on ${engine.dialect}`, () => {
    test('RS1 L15 channels that opt in get the latest checkpoint once a day, also after a restart', async () => {
      const { start, ledger, time, other, sent } = await setup(Date.parse('2026-11-17T10:00:00Z'))
      await ledger.record({ type: 'thing.done', actor: systemActor })
      const { checkpoint, size } = await ledger.prove(1)
      const receiver = await startReceiver()
      const channels = [
        { ...receiver.channel('witness'), checkpoints: true },
        receiver.channel('ops'),
      ]
      const first = start(channels)
      start(channels, other)
      await sent(1)
      expect(receiver.got.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
        expect.objectContaining({
          type: 'ledger.checkpoint',
          data: expect.objectContaining({ size, checkpoint }),
        }),
      ])
      await first.close()
      start(channels)
      // Two services, each with a cleanup and a daily checkpoint.
      await expect.poll(() => time.waiters(hour)).toBe(4)
      time.move(hour)
      await expect.poll(() => time.waiters(hour)).toBe(4)
      await sent(1)
      time.move(24 * hour)
      await sent(2)
      expect(receiver.got).toHaveLength(2)
    })
  })
}
