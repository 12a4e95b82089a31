import { expect, test } from 'vitest'
import type { TestApp } from '../app.ts'
import {
  isLive,
  readLedger,
  readMetrics,
  output,
  findEntryRow,
  listSeqs,
  useBrowser,
} from './browser.ts'

const { start, restart, newContext, visit, allowError } = useBrowser()

const log = (app: TestApp, action: string) =>
  output(app, 'cowork_log', { domain: 'docs', action, target: 'README.md' })

const logged = async (app: TestApp) =>
  (await readLedger(app, '&type=action.logged')).entries.map(({ seq }) => seq).toReversed()

const listeners = async (app: TestApp) => (await readMetrics(app)).get('cowork_live_listeners')

test('C10 an open page misses nothing during a daemon restart', async () => {
  allowError(/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY/)
  let app = await start()
  const whole = await visit(app)
  const filtered = await visit(app, '/audit?type=action.logged')
  await log(app, 'before')
  for (const page of [whole, filtered]) {
    await findEntryRow(page, 'Executed before').waitFor()
    await page.evaluate('window.isStill = true')
  }
  app = await restart(app, () =>
    Promise.all(
      [whole, filtered].map((page) => page.getByText(/^(Reconnecting|Offline)$/).waitFor()),
    ),
  )
  for (const action of ['first', 'second', 'third']) await log(app, action)
  for (const page of [whole, filtered]) {
    await isLive(page)
    await findEntryRow(page, 'Executed third').waitFor()
    expect(await page.evaluate('window.isStill'), 'nothing was loaded again').toBe(true)
  }
  expect(await listSeqs(filtered)).toEqual(await logged(app))
  const seen = new Set(await listSeqs(whole))
  const written = (await readLedger(app)).entries.filter(({ type }) => type !== 'call.done')
  expect(written.filter(({ seq }) => !seen.has(seq))).toEqual([])
})

test('C10 a burst of entries arrives complete and in order', async () => {
  const app = await start()
  const page = await visit(app, '/audit?type=action.logged')
  await Promise.all(Array.from({ length: 20 }, (_, at) => log(app, `act_${at}`)))
  await expect.poll(() => listSeqs(page)).toEqual(await logged(app))
})

test('SV23 tabs share one stream, and another tab takes over when the leader closes', async () => {
  const app = await start()
  const context = await newContext()
  const first = await visit(app, '/audit', { context })
  const others = []
  for (let tab = 0; tab < 2; tab++) {
    const page = await context.newPage()
    await page.goto(`${app.url}/audit`)
    await isLive(page)
    others.push(page)
  }
  await log(app, 'shared')
  for (const page of [first, ...others]) await findEntryRow(page, 'Executed shared').waitFor()
  expect(await listeners(app)).toBe(1)

  await first.close()
  await log(app, 'inherited')
  for (const page of others) await findEntryRow(page, 'Executed inherited').waitFor()
  await expect.poll(() => listeners(app)).toBe(1)
  for (const page of others) await isLive(page)
})
