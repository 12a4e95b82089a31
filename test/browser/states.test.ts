import { expect, test } from 'vitest'
import { isLive, output, findEntryRow, useBrowser } from './browser.ts'

const { start, restart, visit, allowError } = useBrowser()

const screens = [
  {
    path: '/inbox',
    api: '**/api/approvals?**',
    what: 'the inbox',
    there: 'Inbox is empty',
  },
  {
    path: '/agents',
    api: '**/cowork_list_agents/**',
    what: 'trust',
    there: 'No agents connected',
  },
  {
    path: '/policies',
    api: '**/cowork_list_policies/**',
    what: 'policies',
    there: 'No policies',
  },
  {
    path: '/policies/edit',
    api: '**/cowork_list_policies/**',
    what: 'the policies',
    there: 'Active version',
  },
  {
    path: '/policies/versions',
    api: '**/cowork_policy_versions/**',
    what: 'versions',
    there: 'Active',
  },
  {
    path: '/files',
    api: '**/list_files/**',
    what: 'folder',
    there: 'Documents',
  },
  {
    path: '/files/grants',
    api: '**/list_grants/**',
    what: 'grants',
    there: 'No grants',
  },
  {
    path: '/files/trash',
    api: '**/trash_list/**',
    what: 'trash',
    there: 'Trash is empty',
  },
  {
    path: '/files/size',
    api: '**/workspace_usage/**',
    what: 'disk usage',
    there: 'Disk usage',
  },
  {
    path: '/work',
    api: '**/worksync_projects/**',
    what: 'the work',
    there: 'No projects',
  },
  {
    path: '/welcome',
    api: '**/get_workspace_info/**',
    what: 'the workspace',
    there: 'Where should AI save files it creates?',
  },
  { path: '/audit', api: '**/api/ledger?**', what: 'entries', there: 'First entry' },
  {
    path: '/audit/1',
    api: '**/api/ledger/1',
    what: 'the entry',
    there: 'Verified in this browser.',
  },
  { path: '/settings/people', api: '**/cowork_list_people/**', what: 'people', there: 'You' },
  {
    path: '/settings/sessions',
    api: '**/cowork_list_sessions/**',
    what: 'sessions',
    there: 'This device',
  },
  {
    path: '/settings/passkeys',
    api: '**/cowork_list_passkeys/**',
    what: 'passkeys',
    there: 'No passkeys',
  },
  {
    path: '/settings/agents',
    api: '**/cowork_list_agents/**',
    what: 'agents',
    there: 'Authentication off',
  },
]

test('C13 every screen shows a loading state and then its content', async () => {
  const app = await start()
  const page = await visit(app)
  for (const { path, api, what, there } of screens) {
    const released = Promise.withResolvers<void>()
    await page.route(api, (route) => released.promise.then(() => route.continue()))
    await page.goto(app.url + path)
    await page
      .getByRole('status')
      .filter({ hasText: `Loading ${what}` })
      .waitFor()
    released.resolve()
    await page.getByText(there, { exact: true }).waitFor()
    await page.unroute(api)
  }
})

test('C13 every screen that fails to load shows the error, the hint and a retry button', async () => {
  allowError(/status of 503/)
  const app = await start()
  const page = await visit(app)
  const error = {
    code: 'store_unavailable',
    message: 'The store does not answer.',
    hint: 'Look at `cowork doctor`.',
  }
  for (const { path, api, there } of screens) {
    await page.route(api, (route) => route.fulfill({ status: 503, json: { error } }))
    await page.goto(app.url + path)
    const trouble = page.getByRole('alert')
    await trouble.getByText('The store does not answer.').waitFor()
    await trouble.getByText('cowork doctor', { exact: true }).waitFor()
    await page.unroute(api)
    await trouble.getByRole('button', { name: 'Try again' }).click()
    await page.getByText(there, { exact: true }).waitFor()
  }
})

test('C13 empty states link to the next step', async () => {
  allowError(/status of 404/)
  const app = await start()
  const page = await visit(app, '/audit?actor=nobody')
  await page.getByText('No matches').waitFor()
  await page.getByRole('link', { name: 'Clear filters' }).click()
  await findEntryRow(page, 'Signed in').waitFor()
  await page.goto(`${app.url}/audit/999`)
  await page.getByText('Unknown entry: 999.').waitFor()
  await page.goto(`${app.url}/welcome/nowhere`)
  await page.getByText('Page not found').waitFor()
  await page.getByRole('link', { name: 'Open Inbox' }).click()
  await page.getByText('Inbox is empty').waitFor()
  await page.goto(`${app.url}/inbox?q=nothing`)
  await page.getByRole('link', { name: 'Clear filters' }).click()
  await page.getByText('Inbox is empty').waitFor()
  await page.goto(`${app.url}/inbox/nonsense`)
  await page.getByText('Unknown approval: "nonsense".').waitFor()
  await page.goto(`${app.url}/agents?q=nobody`)
  await page.getByRole('link', { name: 'Show all' }).click()
  await page.getByText('No agents connected').waitFor()
  await page.goto(`${app.url}/agents/nobody`)
  await page.getByText('Agent not found').waitFor()
  await page.goto(`${app.url}/files?q=nothing`)
  await page.getByText('No matches').waitFor()
  await page.getByRole('link', { name: 'Search content' }).click()
  await page.getByText(/No file .* contains/).waitFor()
  await page.goto(`${app.url}/files?path=nowhere`)
  await page.getByRole('alert').waitFor()
  await page.goto(`${app.url}/settings/nonsense`)
  await page.waitForURL('**/settings/people')
})

test('C13 C10 an unreachable daemon is reported with the command that starts it', async () => {
  allowError(/ERR_/)
  const app = await start()
  const page = await visit(app)
  await findEntryRow(page, 'Signed in').waitFor()
  const again = await restart(app, async () => {
    await page.getByText(/^(Reconnecting|Offline)$/).waitFor()
    await page.getByRole('button', { name: 'Verify ledger' }).click()
    await page.getByText('Verification did not finish.').waitFor()
    expect(await page.getByText('cowork up -d').count()).toBeGreaterThan(0)
  })
  await isLive(page)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('verified.').waitFor()
  await output(again, 'cowork_log', { domain: 'docs', action: 'go_on', target: 'README.md' })
  await findEntryRow(page, 'Executed go_on').waitFor()
})
