import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { TestApp } from '../app.ts'
import { connectAgent } from './agent.ts'
import { readLedger, output, findEntryRow, listSeqs, useBrowser } from './browser.ts'

const { start, visit } = useBrowser()

const log = (app: TestApp, action: string, more: Record<string, unknown> = {}) =>
  output<{ action_id: string }>(app, 'cowork_log', {
    domain: 'crm.deals',
    action,
    target: 'deal_12345',
    ...more,
  })

const seqOf = async (app: TestApp, query: string) => (await readLedger(app, query)).entries[0]?.seq

async function entry(page: Page, app: TestApp, seq: number | undefined) {
  await page.goto(`${app.url}/audit/${seq}`)
  return page.getByRole('region', { name: `Entry ${seq}` })
}

test('C1 C8 filters are in the URL, survive a reload and apply to the export', async () => {
  const app = await start()
  for (const action of ['update_deal', 'close_deal', 'send_offer']) await log(app, action)
  await output(app, 'cowork_halt')
  const page = await visit(app)
  await findEntryRow(page, 'Executed close_deal').waitFor()

  await page.getByRole('link', { name: 'Actions', exact: true }).click()
  await findEntryRow(page, 'Halted all agents').waitFor({ state: 'detached' })
  await page.getByRole('searchbox', { name: 'Find in entries' }).fill('offer')
  await page.keyboard.press('Enter')
  await findEntryRow(page, 'Executed close_deal').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Filters' }).click()
  await page.getByLabel('Actor').fill('owner')
  await page.getByLabel('Domain').fill('crm.deals')
  await page.getByRole('button', { name: 'Apply' }).click()
  const wanted = { kind: 'decisions', q: 'offer', actor: 'owner', domain: 'crm.deals' }
  const inAddress = () => Object.fromEntries(new URL(page.url()).searchParams)
  await expect.poll(inAddress).toEqual(wanted)

  const sent = await seqOf(app, '&type=action.logged&q=offer')
  await page.reload()
  await findEntryRow(page, 'Executed send_offer').waitFor()
  expect(await listSeqs(page)).toEqual([sent])
  expect(inAddress()).toEqual(wanted)

  // New entries are filtered too.
  await log(app, 'close_deal')
  await log(app, 'second_offer')
  await findEntryRow(page, 'Executed second_offer').waitFor()
  expect(await listSeqs(page)).toHaveLength(2)

  for (const [format, item] of [
    ['jsonl', /^JSONL/],
    ['csv', /^CSV/],
  ] as const) {
    await page.getByRole('button', { name: 'Export filtered entries' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: item }).click(),
    ])
    expect(download.suggestedFilename()).toMatch(new RegExp(`^cowork-ledger-.*\\.${format}$`))
    const text = readFileSync(await download.path(), 'utf8')
    expect(text.match(/_offer/g)?.length).toBeGreaterThanOrEqual(2)
    expect(text).not.toContain('close_deal')
  }

  await page.getByRole('link', { name: 'Remove filter text offer' }).click()
  await findEntryRow(page, 'Executed update_deal').waitFor()
  await page.goBack()
  await findEntryRow(page, 'Executed update_deal').waitFor({ state: 'detached' })
})

test('C8 L6 the browser verifies the proof of an entry and shows its chain', async () => {
  const app = await start()
  await log(app, 'update_deal', { proposal_id: 'p-7' })
  await log(app, 'update_deal', { proposal_id: 'p-7', phase: 'verify' })
  const page = await visit(app)
  await findEntryRow(page, 'Verified update_deal').click()
  const detail = page.getByRole('region', { name: /^Entry/ })
  await detail.getByText('Verified in this browser.').waitFor()
  await detail.getByText('Steps of this proposal').waitFor()
  await detail.getByRole('link', { name: /^execute/ }).click()
  await detail.getByRole('heading', { name: 'Executed update_deal on deal_12345' }).waitFor()
  await detail.getByText('Verified in this browser.').waitFor()
  await detail.getByText('Inclusion path:').click()
  await detail.getByRole('columnheader', { name: 'Side', exact: true }).waitFor()
})

type Proof = { entry: string; path: string[]; checkpoint: string; vkey: string }

const flipped = (text: string, at: number) =>
  text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)

const forgeries: [string, (proof: Proof) => Partial<Proof>, RegExp][] = [
  ['text', ({ entry: text }) => ({ entry: text.replace('deal_1', 'deal_2') }), /the hash/],
  ['path', ({ path }) => ({ path: path.map((hash) => flipped(hash, 3)) }), /the root/],
  ['shorter path', ({ path }) => ({ path: path.slice(1) }), /the root/],
  [
    'signature',
    ({ checkpoint: note }) => ({ checkpoint: flipped(note, note.length - 20) }),
    /signature/,
  ],
]

test('C8 L6 a forged proof or a modified entry fails verification', async () => {
  const app = await start()
  for (const action of ['one', 'two', 'three']) await log(app, action)
  const seq = await seqOf(app, '&type=action.logged')
  const page = await visit(app, '/audit', { isCaught: true })
  for (const [what, forged, why] of forgeries) {
    await page.route('**/api/ledger/*/proof', async (route) => {
      const answer = await route.fetch()
      const proof = (await answer.json()) as Proof
      await route.fulfill({ response: answer, json: { ...proof, ...forged(proof) } })
    })
    const detail = await entry(page, app, seq)
    const errorText = detail.getByText('Proof failed.').locator('..')
    expect(await errorText.textContent(), `another ${what}`).toMatch(why)
    expect(await detail.getByText('Verified in this browser.').count()).toBe(0)
    await page.unroute('**/api/ledger/*/proof')
  }
  await page.route(`**/api/ledger/${seq}`, async (route) => {
    const answer = await route.fetch()
    const text = (await answer.text()).replaceAll('deal_12345', 'deal_99999')
    await route.fulfill({ response: answer, body: text })
  })
  const detail = await entry(page, app, seq)
  await detail.getByText('deal_99999').first().waitFor()
  await detail.getByText('Proof failed.').waitFor()
})

test('C8 Verify names the first invalid entry of a modified ledger', async () => {
  const app = await start()
  await log(app, 'update_deal')
  const seq = await seqOf(app, '&type=action.logged')
  const page = await visit(app)
  await page.getByRole('button', { name: 'Verify ledger' }).click()
  await page.getByText('verified.').waitFor()

  const db = new DatabaseSync(join(app.state, 'cowork.db'))
  const triggers = db.prepare(`SELECT name FROM sqlite_master WHERE type = 'trigger'`).all()
  for (const { name } of triggers) db.exec(`DROP TRIGGER "${String(name)}"`)
  db.exec(
    `UPDATE ledger_entry SET body = replace(body, 'deal_12345', 'deal_99999') WHERE seq = ${seq}`,
  )
  db.close()

  await page.keyboard.press('v')
  await page.getByText('Verification failed: the ledger was modified.').waitFor()
  await page
    .getByRole('status')
    .getByRole('link', { name: String(seq), exact: true })
    .click()
  await page
    .getByRole('region', { name: `Entry ${seq}` })
    .getByText('Proof failed.')
    .waitFor()
})

test('C8 L10 the activity of an agent is found by its name, including refused calls', async () => {
  const app = await start()
  const agent = await connectAgent(app, { name: 'claude-code', version: '2.1.0' })
  await agent.call('cowork_log', { domain: 'docs', action: 'rewrite_intro', target: 'README.md' })
  await agent.call('cowork_halt', { scope: 'all' })
  await agent.close()
  const page = await visit(app, '/audit?actor=claude-code&outcome=refused')
  await findEntryRow(page, 'Tried cowork_halt').click()
  const detail = page.getByRole('region', { name: /^Entry/ })
  await detail.getByText('Unverified').waitFor()
  await detail.getByText('Refused', { exact: true }).first().waitFor()
  expect(await listSeqs(page)).toHaveLength(1)
})
