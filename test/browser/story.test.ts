import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { ended } from '../cli.ts'
import { cowork } from '../daemon.ts'
import { addAuthenticator, readLedger, findEntryRow, useBrowser } from './browser.ts'

const { start, visit } = useBrowser()

/** Runs a CLI command on the state of a running system. */
async function run(state: string, args: string[]) {
  const { command, args: before, env } = cowork(state)
  const child = spawn(command, [...before, ...args], { env, cwd: state })
  child.stdin.end()
  return ended(child)
}

test('C1 C8 C10 I6 A9 a person signs in, sees CLI calls live, verifies, adds a passkey and halts all agents', async () => {
  const app = await start()
  const opened = await run(app.state, ['open', 'audit', '--print'])
  expect(opened.stdout).toMatch(/^http:\/\/localhost:\d+\/audit#code=/)
  const page = await visit(app, opened.stdout.trim())
  await addAuthenticator(page)
  expect(page.url(), 'the code is gone from the address').toBe(`${app.url}/audit`)

  // C10: the page records when the row appears, to compare with the time of the entry.
  await page.evaluate(`{
    window.isStill = true
    new MutationObserver(() => {
      const list = document.querySelector('ol')?.textContent ?? ''
      if (list.includes('Added agent sales')) window.shownAt ??= Date.now()
    }).observe(document.body, { subtree: true, childList: true, characterData: true })
  }`)
  expect((await run(app.state, ['agents', 'add', 'sales'])).stdout).toContain('sk-cowork-')
  await findEntryRow(page, 'Added agent sales').waitFor()
  const [added] = (await readLedger(app, '&type=agent.added')).entries
  expect((await page.evaluate<number>('window.shownAt')) - (added?.at ?? 0)).toBeLessThan(1000)

  await page.getByRole('button', { name: 'Verify ledger' }).click()
  const { size } = await readLedger(app)
  await page.getByText(`${size} entries verified.`).waitFor()

  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('link', { name: 'Passkeys' }).click()
  await page.getByText('No passkeys').waitFor()
  await page.getByRole('button', { name: 'Add passkey' }).click()
  await page.getByLabel('Name').fill('Laptop')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('list', { name: 'Passkeys' }).getByText('Laptop').waitFor()

  await page.getByRole('button', { name: 'Halt all agents' }).click()
  await page.getByLabel('Reason').fill('strange orders')
  await page.getByRole('dialog').getByRole('button', { name: 'Halt all agents' }).click()
  await page.getByText('All agents halted: strange orders').waitFor()
  expect(await page.evaluate('window.isStill'), 'nothing was loaded again').toBe(true)

  const halted = await run(app.state, ['status'])
  expect(halted.stdout).toContain('strange orders')
  const done = (await readLedger(app)).entries.map(({ type }) => type)
  expect(done).toEqual(expect.arrayContaining(['session.opened', 'passkey.added', 'halt.set']))

  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByText('All agents halted', { exact: true }).waitFor({ state: 'detached' })
})
