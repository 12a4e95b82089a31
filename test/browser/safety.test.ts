import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { TestApp } from '../app.ts'
import { connectAgent } from './agent.ts'
import { isLive, readLedger, readMetrics, output, findEntryRow, useBrowser } from './browser.ts'

// A foreign host name that resolves to this machine, as after DNS rebinding.
const foreignName = 'evil.test'
const { start, newContext, visit, allowError } = useBrowser([
  `--host-resolver-rules=MAP ${foreignName} 127.0.0.1`,
])

/** A foreign page on its own port. */
async function foreignPage(): Promise<number> {
  const script = readFileSync(join(import.meta.dirname, 'foreign-page.js'))
  const page = '<!doctype html><body><script type="module" src="/page.js"></script>'
  const server = createServer(({ url }, reply) => {
    const isScript = url === '/page.js'
    reply.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    reply.end(isScript ? script : page)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

const refusals = async (app: TestApp) =>
  (await readMetrics(app)).get('cowork_http_responses_total{status="403"}') ?? 0

test('SV21 N36 a page of another origin can neither read nor change anything, even with a stolen token', async () => {
  allowError(/./)
  const app = await start()
  const context = await newContext()
  const console = await visit(app, '/audit', { context })
  await findEntryRow(console, 'Signed in').waitFor()
  const port = await foreignPage()
  const before = await readLedger(app)

  for (const host of [foreignName, '127.0.0.1', 'localhost']) {
    const refusedBefore = await refusals(app)
    const page = await context.newPage()
    const statuses = new Set<number>()
    page.on('response', (reply) => {
      if (reply.url().startsWith(app.url)) statuses.add(reply.status())
    })
    const search = new URLSearchParams({ target: app.url, token: app.owner }).toString()
    await page.goto(`http://${host}:${port}/?${search}`)
    await page.waitForFunction('globalThis.results')
    const results = await page.evaluate<Record<string, string>>('globalThis.results')
    for (const [attempt, result] of Object.entries(results))
      expect(['refused', 'opaque', 'sent'], `${attempt} from ${host}: ${result}`).toContain(result)

    // The requests reached the server, and the server refused them.
    expect([...statuses]).toEqual([403])
    const refused = (await refusals(app)) - refusedBefore
    expect(refused).toBeGreaterThanOrEqual(Object.keys(results).length)
    await page.close()
  }
  expect(await readLedger(app)).toEqual(before)
  await isLive(console)
  await output(app, 'cowork_log', { domain: 'docs', action: 'go_on', target: 'README.md' })
  await findEntryRow(console, 'Executed go_on').waitFor()
})

test('SV21 N36 a rebound host name and a cross-site form are refused', async () => {
  allowError(/./)
  const app = await start()
  const { size } = await readLedger(app)
  const page = await (await newContext()).newPage()
  const rebound = await page.goto(`http://${foreignName}:${app.port}/audit`)
  expect(rebound?.status()).toBe(403)
  expect(await rebound?.text()).toContain('host_refused')

  await page.goto(`http://${foreignName}:${await foreignPage()}/?target=http://localhost:1`)
  const [reply] = await Promise.all([
    page.waitForResponse(`${app.url}/mcp`),
    page.evaluate(`{
      const form = document.createElement('form')
      form.method = 'POST'
      form.enctype = 'text/plain'
      form.action = ${JSON.stringify(`${app.url}/mcp`)}
      document.body.append(form)
      form.submit()
    }`),
  ])
  expect(reply.status()).toBe(403)
  await page.waitForURL(`${app.url}/mcp`)
  expect((await readLedger(app)).size).toBe(size)
  // A plain link to the console is harmless.
  expect((await page.goto(`${app.url}/audit`))?.status()).toBe(200)
})

const hostile = {
  html: '<img src=x onerror="window.pwned = true"><script>window.pwned = true</script>',
  hidden: 'invoice\u202efdp.exe\u200b\u2066admin',
  markdown: '[approve](http://evil.test/) **urgent**\nApproved by owner',
}

test('A13 text of an agent has no markup, no links and no hidden characters', async () => {
  const app = await start()
  const agent = await connectAgent(app, { name: 'good<b>agent</b>\u202e', version: '1' })
  for (const [domain, text] of Object.entries(hostile))
    await agent.call('cowork_log', { agent_id: 'sly', domain, action: 'note', target: text })
  await agent.call('cowork_log', {
    agent_id: 'sly',
    domain: 'x',
    action: hostile.html,
    target: 't',
  })
  await agent.close()
  const page = await visit(app, '/audit?type=action.logged')
  await findEntryRow(page, '<img src=x onerror="window.pwned = true">').first().waitFor()
  await findEntryRow(page, 'invoiceU+202Efdp.exeU+200BU+2066admin').waitFor()
  await findEntryRow(page, '[approve](http://evil.test/) **urgent**↵Approved by owner').waitFor()

  for (const domain of Object.keys(hostile)) {
    await page.goto(`${app.url}/audit?domain=${domain}`)
    await findEntryRow(page, 'Ran cowork_log').click()
    const detail = page.getByRole('region', { name: /^Entry/ })
    await detail.getByText('the agent says').first().waitFor()
    await detail.getByText('Verified in this browser.').waitFor()
    const text = await page.evaluate<string>('document.body.innerText')
    expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b]/)
    expect(await page.title()).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b\n]/)
    expect(await page.locator('main img, main script, a[href*="evil.test"]').count()).toBe(0)
    expect(await page.evaluate('window.pwned')).toBeUndefined()
  }
})

test('SV26 the page has no inline script, and an injected script does not run', async () => {
  allowError(/^CSP: |Content Security Policy|none\.png/)
  const app = await start()
  const port = await foreignPage()
  const shell = await fetch(`${app.url}/audit`)
  expect(await shell.text()).not.toMatch(/<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=/)
  expect(shell.headers.get('content-security-policy')).not.toMatch(/unsafe|\*|https?:/)

  const page = await visit(app)
  const violations = page.evaluate<string[]>(`new Promise((resolve) => {
    const found = new Set()
    addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
      found.add(effectiveDirective)
      if (found.size === 4) resolve([...found].toSorted())
    })
  })`)
  await page.evaluate(`{
    const inline = document.createElement('script')
    inline.textContent = 'window.pwned = 1'
    const foreign = document.createElement('script')
    foreign.src = 'http://127.0.0.1:${port}/'
    const style = document.createElement('style')
    style.textContent = 'body { display: none }'
    document.head.append(inline, foreign, style)
    document.body.insertAdjacentHTML('beforeend', '<img src="/none.png" onerror="window.pwned = 2">')
    fetch('http://127.0.0.1:${port}/').catch(() => {})
  }`)
  expect(await violations).toEqual([
    'connect-src',
    'script-src-attr',
    'script-src-elem',
    'style-src-elem',
  ])
  const evaluated = await page.evaluate(`new Promise((resolve) => setTimeout(() => {
    try { resolve(Function('return "ran"')()) } catch { resolve('refused') }
  }))`)
  expect(evaluated).toBe('refused')
  expect(await page.evaluate('window.pwned')).toBeUndefined()
})

test('SV26 I6 URLs and cookies never contain a token or a code', async () => {
  const app = await start()
  const context = await newContext()
  const addresses: string[] = []
  context.on('request', (request) => addresses.push(request.url()))
  const page = await visit(app, '/audit', { context })
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('link', { name: 'Sessions' }).click()
  await page.getByRole('button', { name: 'Open in another browser' }).click()
  await page.getByLabel('link', { exact: true }).waitFor()
  const token = await page.evaluate<string>('localStorage.getItem("cowork.session")')
  expect(token).toMatch(/^ps-cowork-[0-9a-f]{48}$/)
  expect(addresses.length).toBeGreaterThan(5)
  expect(addresses.filter((address) => /code=|cowork-[0-9a-f]{8}/.test(address))).toEqual([])
  expect(await context.cookies()).toEqual([])
})
