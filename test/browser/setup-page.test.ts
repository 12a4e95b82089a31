import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { TestApp } from '../app.ts'
import { asking, findInboxRow, opened } from './approvals.ts'
import { findAxeIssues } from './axe.ts'
import { createSignInLink, output, useBrowser } from './browser.ts'
import { useHomes } from './home.ts'

const { start, newContext, visit } = useBrowser()
const newHome = useHomes()

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

type Grant = { readonly path: string; readonly permission: string; readonly granted_by: string }
const grantsOf = async (app: TestApp) =>
  (await output<{ grants: (Grant & { agent: string; scope: string })[] }>(app, 'list_grants'))
    .grants

async function activeAgents(app: TestApp) {
  type Agents = { agents: { id: string; status: string }[] }
  const { agents } = await output<Agents>(app, 'cowork_list_agents')
  return agents.filter(({ status }) => status === 'active').map(({ id }) => id)
}

test('C9 a fresh console opens the setup once and keeps the URL of a screen', async () => {
  const app = await start()
  const context = await newContext()
  const page = await visit(app, '/audit', { context })
  expect(new URL(page.url()).pathname).toBe('/audit')
  await page.goto(await createSignInLink(app))
  await heading(page, 'Where should AI save files it creates?').waitFor()
  await page.getByRole('link', { name: 'Exit' }).click()
  await page.getByText('Inbox is empty').waitFor()
  await page.goto(app.url)
  await page.waitForURL('**/inbox')
  await page.goto(`${app.url}/settings`)
  await page.getByRole('link', { name: 'Setup' }).click()
  await heading(page, 'Where should AI save files it creates?').waitFor()
})

test('C9 an existing setup opens the inbox', async () => {
  const app = await start()
  await output(app, 'cowork_add_agent', { id: 'codex' })
  const page = await visit(app, '/')
  await page.waitForURL('**/inbox')
})

test('C9 the steps are workspace, folders, clients and notifications', async () => {
  const home = newHome({ 'Documents/a.txt': 'a', 'Projects/b.txt': 'b', 'Taxes/c.txt': 'c' })
  const app = await home.during(() => start())
  const page = await visit(app, '/')
  await heading(page, 'Where should AI save files it creates?').waitFor()
  await page.getByText('~/Downloads/AI-Workspace/').waitFor()
  await page.getByRole('button', { name: 'Use Default' }).waitFor()
  await press(page, 'Choose Different Location…')
  await page.getByRole('dialog').getByRole('button', { name: 'Projects' }).click()
  await page.getByRole('dialog').getByText(home.at('Projects'), { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await press(page, 'Keep current location')

  await heading(page, 'Grant AI access to these folders now?').waitFor()
  await page.getByText('(You can always grant more access later)').waitFor()
  await page.getByRole('button', { name: 'Skip for Now' }).waitFor()
  const folder = (name: string) => page.getByRole('checkbox', { name: home.at(name) })
  for (const name of ['Documents', 'Projects']) expect(await folder(name).isChecked()).toBe(false)
  expect(await page.getByRole('button', { name: 'Continue' }).isDisabled()).toBe(true)
  await folder('Documents').check()
  await page
    .getByRole('group', { name: `Permission for ${home.at('Documents')}` })
    .getByText('Read-Write')
    .click()
  await press(page, 'Add another folder…')
  await page.getByRole('dialog').getByRole('button', { name: 'Taxes' }).click()
  await press(page, 'Add folder')
  expect(await folder('Taxes').isChecked()).toBe(true)
  await press(page, 'Continue')

  await heading(page, 'Connect your MCP clients').waitFor()
  await page.getByText('cowork connect claude-code').waitFor()
  await page.getByText('No clients connected.').waitFor()
  await output(app, 'cowork_add_agent', { id: 'codex' })
  const codex = page.getByRole('list', { name: 'Agents' }).getByRole('listitem')
  await codex.filter({ hasText: 'added, not seen since start' }).waitFor()
  await press(page, 'Continue')

  await heading(page, 'Notifications').waitFor()
  await page.getByText('Desktop notifications').first().waitFor()
  await press(page, 'Continue')
  await heading(page, 'Practice round').waitFor()

  const made = (await grantsOf(app)).toSorted((a, b) => a.path.localeCompare(b.path))
  expect(made).toMatchObject([
    {
      path: home.at('Documents'),
      permission: 'read-write',
      agent: '*',
      scope: 'permanent',
      granted_by: 'system_setup',
    },
    { path: home.at('Taxes'), permission: 'read', agent: '*', granted_by: 'system_setup' },
  ])
})

test('C9 another workspace is saved in the configuration and needs a restart', async () => {
  const home = newHome({ 'AI/.keep': '' })
  const command = { here: 'npx cowork', anywhere: ['node', '/opt/cowork/bin/cowork.mjs'] }
  const app = await home.during(() => start({}, { command }))
  const page = await visit(app, '/welcome')
  await press(page, 'Choose Different Location…')
  await page.getByRole('dialog').getByRole('button', { name: 'AI', exact: true }).click()
  await page.getByRole('dialog').getByText(home.at('AI'), { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Use folder' }).press('Enter')
  const restart = page.getByText('node /opt/cowork/bin/cowork.mjs restart', { exact: true })
  await restart.waitFor()
  expect(await page.evaluate('document.activeElement.textContent')).toBe(
    'Choose Different Location…',
  )
  const config = join(app.state, 'cowork.yaml')
  expect(existsSync(config)).toBe(true)
  expect(readFileSync(config, 'utf8')).toContain(home.at('AI/AI-Workspace'))
  await page.reload()
  await restart.waitFor()
  await page.goto(`${app.url}/files`)
  await page.getByText(`After a restart: ${home.at('AI/AI-Workspace')}`).waitFor()
  // A choice made elsewhere appears immediately (C10).
  await output(app, 'workspace_choose', { path: home.at('Other') })
  await page.getByText(`After a restart: ${home.at('Other')}`, { exact: true }).waitFor()
  await page.goto(`${app.url}/welcome`)
  await press(page, 'Continue')
  await heading(page, 'Grant AI access to these folders now?').waitFor()
  // Commands in texts use the launcher too.
  const named = (words: string) =>
    page.getByText(`node /opt/cowork/bin/cowork.mjs ${words}`, { exact: true }).first().waitFor()
  await page.goto(`${app.url}/welcome?step=notices`)
  await named('notify test <channel>')
  await page.goto(`${app.url}/agents`)
  await named('connect claude-code')
})

test.each(['open', 'closed'])(
  'C9 the practice round ends with its agent and its access (%s mode)',
  async (mode) => {
    const home = newHome({ 'Documents/a.txt': 'a' })
    const app = await home.during(() => start())
    if (mode === 'closed') await output(app, 'cowork_add_agent', { id: 'codex' })
    const page = await visit(app, '/welcome?step=practice')
    await press(page, 'Start practice round')
    const first = await opened(page)
    await first.getByText('The name does not say which meeting it was.').waitFor()
    await first.getByRole('button', { name: /^Approve/ }).waitFor()
    await page.keyboard.press('a')
    await heading(page, `AI wants to read files in: ${home.at('Documents')}`).waitFor()
    await page
      .getByRole('list', { name: 'Access options' })
      .getByText('Allow Folder', { exact: true })
      .click()
    await heading(page, 'Practice round complete').waitFor()
    const decided = page.getByRole('list', { name: 'Decisions' })
    await expect.poll(() => decided.getByText('Approved', { exact: true }).count()).toBe(2)
    await expect.poll(() => grantsOf(app)).toEqual([])
    await expect.poll(() => activeAgents(app)).toEqual(mode === 'closed' ? ['codex'] : [])
    await page.getByRole('link', { name: 'Show entries' }).click()
    await page.getByText('Requested access to').first().waitFor()
  },
)

test('C9 “Use Default” reverts another choice', async () => {
  const home = newHome({ 'AI/.keep': '' })
  const workspace = home.at('Downloads/AI-Workspace')
  const app = await home.during(() => start({ 'workspace.path': workspace }))
  await output(app, 'workspace_choose', { path: home.at('AI') })
  const config = join(app.state, 'cowork.yaml')
  expect(readFileSync(config, 'utf8')).toContain(home.at('AI'))
  const page = await visit(app, '/welcome')
  const answers = page.getByRole('region', { name: 'Setup' }).getByRole('button')
  await page.getByRole('button', { name: 'Use Default' }).waitFor()
  // The current location is already the default.
  expect((await answers.allTextContents()).filter((text) => !text.startsWith('Copy'))).toEqual([
    'Continue',
    'Use Default',
    'Choose Different Location…',
  ])
  await press(page, 'Use Default')
  await heading(page, 'Grant AI access to these folders now?').waitFor()
  expect(readFileSync(config, 'utf8')).not.toContain(home.at('AI'))
})

test('C9 GR6 a folder is “Granted” only if every agent has access, and denials are shown', async () => {
  const home = newHome({ 'Documents/a': '', 'Desktop/b': '', 'Pictures/c': '', 'Projects/d': '' })
  const app = await home.during(() => start())
  const add = (name: string, permission: string, agent = '*') =>
    output(app, 'add_grant', { path: home.at(name), permission, agent })
  await add('Documents', 'read')
  await add('Desktop', 'read', 'codex')
  const gemini = await asking(app, 'gemini-cli')
  const { output: asked } = await gemini.call<{ request_id: string }>('request_grant', {
    path: home.at('Pictures'),
    permission: 'read',
    reason: 'To look',
  })
  const page = await visit(app, `/inbox/${asked.request_id}`)
  await opened(page)
  await press(page, 'Deny and don’t ask again')
  await expect.poll(async () => (await grantsOf(app)).length).toBe(3)
  await page.goto(`${app.url}/welcome?step=folders`)
  const row = (name: string) => page.getByRole('listitem').filter({ hasText: home.at(name) })
  const box = (name: string) => row(name).getByRole('checkbox')
  await row('Documents').getByText('Granted').waitFor()
  expect(await box('Documents').isChecked()).toBe(true)
  await row('Desktop').getByText('codex has access').waitFor()
  await row('Pictures').getByText('blocked for gemini-cli').waitFor()
  for (const name of ['Desktop', 'Pictures', 'Projects'])
    expect([name, await box(name).isChecked()]).toEqual([name, false])
  // Read access can be extended.
  await row('Documents').getByText('Read-Write').click()
  await press(page, 'Continue')
  await heading(page, 'Connect your MCP clients').waitFor()
  const made = (await grantsOf(app)).find(({ path }) => path === home.at('Documents'))
  expect(made).toMatchObject({ permission: 'read-write', agent: '*' })
})

test('C9 a practice round survives a reload and ends with its last decision on any page', async () => {
  const home = newHome({ 'Documents/a.txt': 'a' })
  const app = await home.during(() => start())
  await output(app, 'cowork_add_agent', { id: 'codex' })
  const page = await visit(app, '/welcome?step=practice')
  await press(page, 'Start practice round')
  const first = await opened(page)
  expect(await first.getByRole('link', { name: /^Close|^Back/ }).count()).toBe(0)
  await page.keyboard.press('a')
  const asks = `AI wants to read files in: ${home.at('Documents')}`
  await heading(page, asks).waitFor()
  await page.reload()
  await heading(page, asks).waitFor()
  await page.goto(`${app.url}/inbox`)
  await findInboxRow(page, '~/Documents').click()
  await page
    .getByRole('list', { name: 'Access options' })
    .getByText('Allow Folder', { exact: true })
    .click()
  await expect.poll(() => activeAgents(app)).toEqual(['codex'])
  await expect.poll(() => grantsOf(app)).toEqual([])
})

test('C11 C9 on a phone a toast covers no buttons of the next item', async () => {
  const home = newHome({ 'Documents/a.txt': 'a' })
  const app = await home.during(() => start())
  const page = await visit(app, '/welcome?step=practice')
  await page.setViewportSize({ width: 375, height: 800 })
  await press(page, 'Start practice round')
  await (await opened(page)).getByRole('button', { name: /^Approve/ }).click()
  const next = page.getByRole('button', { name: /^Allow folder this session/ }).last()
  await next.waitFor()
  const toast = await page
    .getByRole('status')
    .getByText(/^Approved/)
    .locator('..')
    .boundingBox()
  const bar = await page.getByRole('contentinfo').or(page.locator('main footer')).boundingBox()
  expect((toast?.y ?? 0) + (toast?.height ?? 0)).toBeLessThanOrEqual(bar?.y ?? 0)
})

test('C11 every setup step passes axe and fits a phone', async () => {
  const home = newHome({ 'Documents/a.txt': 'a' })
  const app = await home.during(() => start())
  const page = await visit(app, '/welcome')
  const places: Record<string, string> = {
    '/welcome': 'Where should AI save files it creates?',
    '/welcome?step=folders': 'Grant AI access to these folders now?',
    '/welcome?step=clients': 'Connect your MCP clients',
    '/welcome?step=notices': 'Notifications',
    '/welcome?step=practice': 'Practice round',
  }
  const faults: string[] = []
  for (const [path, title] of Object.entries(places)) {
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.goto(app.url + path)
    await heading(page, title).waitFor()
    faults.push(...(await findAxeIssues(page, path, [1280, 375])))
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    if (width > 375) faults.push(`${path} is ${width} px wide on a phone`)
  }
  expect(faults).toEqual([])
})

test('C9 a reviewer cannot run the setup', async () => {
  const app = await start()
  const { link } = await output<{ link: string }>(app, 'cowork_invite_person', {
    name: 'Mara',
    role: 'reviewer',
  })
  const page = await (await newContext()).newPage()
  await page.goto(link)
  await page.getByText('Inbox is empty').waitFor()
  await page.goto(`${app.url}/welcome`)
  await page.getByText('Only owners can change this setup.').waitFor()
})
