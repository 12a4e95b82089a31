import { expect, test } from 'vitest'
import {
  addAuthenticator,
  isLive,
  createSignInLink,
  linkTo,
  output,
  useBrowser,
} from './browser.ts'
import type { Link } from './browser.ts'

const { start, newContext, visit, allowError } = useBrowser()

type Listed<T> = { readonly sessions: readonly T[] }
type ListedSession = { readonly id: string; readonly person: string }

test('I6 a sign-in link works once and is rejected in a second browser', async () => {
  allowError(/status of 410 .*\/api\/sessions/)
  const app = await start()
  const link = await createSignInLink(app)
  await visit(app, link)
  const second = await (await newContext()).newPage()
  await second.goto(link)
  await second.getByRole('heading', { name: 'Invalid sign-in link' }).waitFor()
  await second.getByRole('alert').getByText('used').waitFor()
  await second.getByText('cowork open', { exact: true }).waitFor()
  expect(second.url()).not.toContain('#')
  expect(await second.evaluate('localStorage.length')).toBe(0)
})

test('I6 a sign-in link expires after five minutes', async () => {
  allowError(/status of 410 .*\/api\/sessions/)
  let at = Date.now()
  const app = await start({}, { now: () => at })
  const link = await createSignInLink(app)
  at += 5 * 60_000
  const page = await (await newContext()).newPage()
  await page.goto(link)
  await page.getByRole('heading', { name: 'Invalid sign-in link' }).waitFor()
  await page.getByText('cowork open', { exact: true }).waitFor()
})

test('I6 a page without a session keeps its target and opens it after sign-in in another tab', async () => {
  const app = await start()
  const context = await newContext()
  const page = await context.newPage()
  const target = '/audit/1?kind=system'
  await page.goto(app.url + target)
  await page.getByRole('heading', { name: 'Sign in from your terminal' }).waitFor()
  await page.getByText('cowork open', { exact: true }).waitFor()
  await page.getByText(target).waitFor()
  await visit(app, '/settings', { context })
  await page.getByRole('region', { name: 'Entry 1' }).waitFor()
  expect(page.url()).toBe(app.url + target)
})

test('I6 revoking a session signs out its open page', async () => {
  allowError(/status of 401/)
  const app = await start()
  const page = await visit(app, '/settings/people')
  const { sessions } = await output<Listed<ListedSession>>(app, 'cowork_list_sessions')
  await output(app, 'cowork_revoke_session', { session: sessions[0]?.id })
  await page.getByRole('heading', { name: 'Session ended' }).waitFor()
  await page.getByText('/settings/people').waitFor()
  expect(await page.evaluate('localStorage.getItem("cowork.session")')).toBe(null)
})

test('I6 the sign-in page accepts a link pasted into its URL', async () => {
  const app = await start()
  const page = await (await newContext()).newPage()
  await page.goto(`${app.url}/audit`)
  await page.getByRole('heading', { name: 'Sign in from your terminal' }).waitFor()
  await page.goto(linkTo(await createSignInLink(app), '/audit'))
  await isLive(page)
  expect(page.url()).toBe(`${app.url}/audit`)
})

test('I6 signing out in one tab signs out the other', async () => {
  // The other tab may have a request in progress.
  allowError(/status of 401/)
  const app = await start()
  const context = await newContext()
  const first = await visit(app, '/audit', { context })
  const second = await visit(app, '/settings/sessions', { context })
  await second.getByRole('button', { name: 'Sign out' }).click()
  for (const page of [first, second]) await page.getByText('cowork open', { exact: true }).waitFor()
})

test('I6 an invited viewer finds no controls that change things', async () => {
  const app = await start()
  await output(app, 'cowork_add_agent', { id: 'sales' })
  const owner = await visit(app, '/settings/people')
  await owner.getByRole('button', { name: 'Invite person' }).click()
  await owner.getByLabel('Name').fill('Vera')
  await owner.getByLabel('Role').selectOption('viewer')
  await owner.getByRole('button', { name: 'Create link' }).click()
  const link = (await owner.getByLabel('link', { exact: true }).textContent()) ?? ''
  expect(link).toContain('#invite=')
  await owner.getByRole('button', { name: 'Done' }).click()
  await owner.getByText('Invited', { exact: true }).waitFor()

  const vera = await (await newContext()).newPage()
  await vera.goto(link)
  await isLive(vera)
  await owner.getByText('Invited', { exact: true }).waitFor({ state: 'detached' })
  const buttons = async (path: string, there: string) => {
    await vera.goto(app.url + path)
    await vera.getByRole('list').getByText(there, { exact: true }).waitFor()
    const names = await vera.getByRole('main').getByRole('button').allTextContents()
    return [...names, ...(await vera.getByRole('combobox').allTextContents())]
  }
  expect(await buttons('/settings/people', 'Vera')).toEqual([])
  expect(await buttons('/settings/agents', 'sales')).toEqual([])
  expect(await vera.getByRole('button', { name: /halt/i }).count()).toBe(0)
  await vera.keyboard.press('Control+k')
  await vera.getByRole('option', { name: 'Verify ledger' }).waitFor()
  expect(await vera.getByRole('option', { name: /halt|resume/i }).count()).toBe(0)
  await vera.keyboard.press('Escape')

  // A role change applies without a reload.
  await owner.getByLabel('Role of Vera').selectOption('reviewer')
  await vera.getByRole('button', { name: 'Halt all agents' }).waitFor()
  await owner.getByRole('button', { name: 'Remove Vera' }).click()
  allowError(/status of 401/)
  await owner.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
  await vera.getByRole('heading', { name: 'Session ended' }).waitFor()
})

test('I6 a high-risk action requires the passkey and then continues', async () => {
  allowError(/status of 403/)
  const app = await start()
  const page = await visit(app, '/settings/passkeys')
  await addAuthenticator(page)
  await page.getByRole('button', { name: 'Add passkey' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('list', { name: 'Passkeys' }).getByText('unused').waitFor()

  await page.goto(`${app.url}/settings/agents`)
  await page.getByRole('button', { name: 'Add agent' }).click()
  await page.getByLabel('Id', { exact: true }).fill('sales')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  const ask = page.getByRole('dialog', { name: 'Confirm with passkey' })
  await ask.getByRole('button', { name: 'Cancel' }).click()
  await page
    .getByRole('dialog', { name: 'Add agent' })
    .getByText(/passkey/)
    .waitFor()
  expect(await agents()).toEqual([])

  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await ask.getByRole('button', { name: 'Use passkey' }).click()
  const token = page.getByRole('dialog', { name: 'Added sales' })
  await token.getByText(/^sk-cowork-[0-9a-f]{48}$/).waitFor()
  expect(await agents()).toEqual(['sales'])
  await token.getByRole('button', { name: 'I saved the token' }).click()

  // The confirmation is valid for five minutes.
  await page.getByRole('button', { name: 'Actions for sales' }).click()
  await page.getByRole('menuitem', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke agent', exact: true }).click()
  await page.getByText('Revoked', { exact: true }).waitFor()

  async function agents() {
    type Found = { readonly agents: readonly { readonly id: string }[] }
    return (await output<Found>(app, 'cowork_list_agents')).agents.map(({ id }) => id)
  }
})

test('I6 the link of a withdrawn invitation is invalid', async () => {
  allowError(/status of 4\d\d .*\/api\/sessions/)
  const app = await start()
  const { link } = await output<Link>(app, 'cowork_invite_person', { name: 'Eve', role: 'owner' })
  const owner = await visit(app, '/settings/people')
  await owner.getByRole('button', { name: 'Invitation of Eve' }).click()
  await owner.getByRole('menuitem', { name: 'Withdraw invitation' }).click()
  await owner.getByText('Invited', { exact: true }).waitFor({ state: 'detached' })
  const eve = await (await newContext()).newPage()
  await eve.goto(link)
  await eve.getByRole('heading', { name: 'Invalid invitation' }).waitFor()
})
