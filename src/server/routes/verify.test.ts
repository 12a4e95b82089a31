import { Hono } from 'hono'
import { afterEach, expect, test } from 'vitest'
import type { Caller } from '#base/caller.ts'
import { systemActor } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import { silentLog } from '#base/log.ts'
import { openTestLedger } from '../../../test/ledger.ts'
import type { TestLedger } from '../../../test/ledger.ts'
import { sendProblemByCode } from '../guards.ts'
import type { Env } from '../guards.ts'
import { mountRoutes } from './route.ts'
import { verifyRoute } from './verify.ts'

const person: Caller = { kind: 'human', id: 'owner', session: 's', verified: true, scopes: ['*'] }

let open: TestLedger | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

/** A ledger whose reads pause at every batch until the test continues them. */
async function setup() {
  open = await openTestLedger()
  const { ledger } = open
  await ledger.record({ type: 'thing.done', actor: systemActor })
  await ledger.prove(1)
  let closed = 0
  let goOn = Promise.withResolvers<void>()
  const app = new Hono<Env>()
  const route = verifyRoute({
    ledger,
    log: silentLog,
    async snapshot() {
      const entries = async function* () {
        const recorded = await ledger.findHashed({ limit: 10 })
        await goOn.promise
        yield recorded.map(({ entry, body, hash }) => ({
          seq: entry.seq,
          at: entry.at,
          type: entry.type,
          body,
          hash,
        }))
        yield []
      }
      const source = { entries, checkpoints: ledger.checkpoints }
      return { source, close: async () => void closed++ }
    },
  })
  app.onError((error, c) =>
    error instanceof CoworkError ? sendProblemByCode(c, () => 409, error) : c.text('internal', 500),
  )
  const identity = { identify: () => Promise.resolve(person) }
  mountRoutes(app, [route], { identity, bodyBytes: 1000, callsInFlight: 10 })
  const ask = (body = '{}') =>
    app.request('/api/ledger/verify', { method: 'POST', body }, { incoming: { socket: {} } })
  return {
    ask,
    closed: () => closed,
    letGo: () => goOn.resolve(),
    hold: () => (goOn = Promise.withResolvers()),
  }
}

test('SV25 one ledger verification runs at a time', async () => {
  const { ask, letGo, closed } = await setup()
  const first = await ask()
  const second = await ask()
  expect(second.status).toBe(409)
  letGo()
  expect(await first.text()).toMatch(/^\{"entries":0,"total":0\}\n\{"result":\{"ok":true.*\}\n$/)
  expect(closed()).toBe(1)
  expect(await (await ask()).text()).toContain('"ok":true')
})

test('SV25 an abandoned verification stops and closes its snapshot', async () => {
  const { ask, letGo, hold, closed } = await setup()
  const left = await ask()
  await left.body?.cancel()
  letGo()
  await expect.poll(closed).toBe(1)
  hold()
  const next = await ask()
  letGo()
  expect(await next.text()).toContain('"ok":true')
})
