// `npm run screenshots`: writes the images in docs/images from the real console after weeks of real decisions and an
// hour of real calls (C15).
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { startTestApp } from '../test/app.ts'
import { madeUpHome, playFiles } from '../test/browser/scene-files.ts'
import { playWork } from '../test/browser/scene-work.ts'
import {
  asking,
  playWeeks,
  sceneDraw,
  sceneSettings,
  weeksBefore,
} from '../test/browser/scene-weeks.ts'
import { playScene, sceneClock } from '../test/browser/scene.ts'
import { buildConsole } from '../test/browser/setup.ts'
import { chromiumFlags, chromiumMissing, provideChromium } from './chromium.ts'

const folder = 'docs/images'
const viewport = { width: 1440, height: 860 }
const maxBytes = 300_000

const pictures = {
  async inbox(page, url) {
    await page.goto(`${url}/inbox`)
    await page.getByRole('link', { name: /closed_won/ }).click()
    await page.getByRole('heading', { name: 'Record' }).waitFor()
    // The pointer would show the box that selects.
    await page.mouse.move(720, 4)
  },
  async handoff(page, url) {
    await page.goto(`${url}/inbox`)
    await page.getByRole('link', { name: /Contract wording/ }).click()
    await page.getByText('Recent activity').waitFor()
    await page.mouse.move(720, 4)
  },
  async checks(page, url) {
    await page.goto(`${url}/inbox`)
    await page.getByRole('link', { name: /Look-back/ }).click()
    await page.getByRole('button', { name: /^Confirm/ }).waitFor()
    await page.mouse.move(720, 4)
  },
  async agents(page, url) {
    await page.goto(`${url}/agents/claude-code?domain=docs.handbook`)
    await page.getByText('Decay while idle').waitFor()
    await page.getByText('Decided within').waitFor()
  },
  async policies(page, url) {
    await page.goto(`${url}/policies/edit`)
    const editor = page.getByLabel('Policies and mappings as YAML')
    const text = await editor.inputValue()
    const rules = 'rules:\n      - field: note\n        constraint: high_risk'
    await editor.fill(text.replace('rules: []', rules))
    await editor.evaluate((area) => {
      area.setSelectionRange(0, 0)
      area.scrollTop = 0
      area.blur()
    })
    await page.getByRole('button', { name: /^Simulate/ }).click()
    await page.getByText('Changes:').waitFor()
  },
  async access(page, url) {
    await page.goto(`${url}/inbox`)
    await page.getByRole('link', { name: /^Access request / }).click()
    await page.getByRole('heading', { name: 'Access options' }).waitFor()
    await page.mouse.move(720, 4)
  },
  async files(page, url) {
    await page.goto(`${url}/files?path=Documents/reports&open=Documents/reports/q3-summary.md`)
    await page.getByText('# Q3 in brief').waitFor()
  },
  async work(page, url) {
    await page.goto(`${url}/work?story=STORY-1`)
    await page.getByText('Good. Show me two of them.').waitFor()
  },
  async welcome(page, url) {
    await page.goto(`${url}/welcome?step=folders`)
    await page.getByRole('checkbox', { name: /Documents/ }).check()
  },
  async audit(page, url) {
    await page.goto(`${url}/audit`)
    await page
      .getByText(/web-shop/)
      .first()
      .waitFor()
  },
  async entry(page, url) {
    await page.goto(`${url}/audit?domain=crm.deals`)
    await page.getByRole('link', { name: /Verified update_deal/ }).click()
    await page.getByText('Verified in this browser.').waitFor()
  },
  async settings(page, url) {
    await page.goto(`${url}/settings/agents`)
    await page.getByRole('link', { name: 'sales-agent' }).waitFor()
  },
}

const executablePath = provideChromium()
if (!executablePath) {
  console.error(chromiumMissing())
  process.exit(1)
}
const work = mkdtempSync(join(tmpdir(), 'cowork-pictures-'))
const webFolder = join(work, 'web')
buildConsole(webFolder)
const clock = sceneClock(weeksBefore)
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const state = mkdtempSync(join(work, 'state-'))
const options = { webFolder, version, now: clock.now, draw: sceneDraw, state }
const home = madeUpHome()
process.env.HOME = home
const app = await startTestApp(
  { ...sceneSettings, 'workspace.path': join(home, 'Downloads', 'AI-Workspace') },
  options,
)
const browser = await chromium.launch({
  executablePath,
  chromiumSandbox: false,
  args: chromiumFlags,
})
try {
  const tokens = await playWeeks(app, clock)
  await playScene(app, clock, asking(app, tokens))
  await playFiles(app, home, tokens['claude-code'])
  await playWork(app, tokens.codex)
  const page = await browser.newPage({ viewport, locale: 'en-GB', reducedMotion: 'reduce' })
  const { output } = await (await app.call('cowork_open_link')).json()
  await page.goto(output.link)
  await page.getByText('Live', { exact: true }).waitFor()
  mkdirSync(folder, { recursive: true })
  for (const [name, go] of Object.entries(pictures)) {
    await go(page, app.url)
    await page.getByText('Live', { exact: true }).waitFor()
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme })
      const path = `${folder}/${name}-${colorScheme}.png`
      await page.screenshot({ path })
      const { size } = statSync(path)
      console.log(`${path} ${Math.round(size / 1000)} kB`)
      if (size > maxBytes) throw new Error(`${path} is larger than ${maxBytes / 1000} kB.`)
    }
  }
} finally {
  await browser.close()
  await app.close()
  for (const folder of [work, home]) rmSync(folder, { recursive: true, force: true })
}
