import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { createClient } from './speakers.ts'
import type { Speaker } from './speakers.ts'

const key = 'TOP-SECRET-KEY'
const home = mkdtempSync(join(tmpdir(), 'cowork-home-'))
const repo = join(home, 'src', 'shop')
const inHome = (...names: string[]) => join(home, ...names)
const put = (path: string, text = key) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

let app: TestApp
let owner: Speaker
let sales: Speaker
let support: Speaker
let registry: string

beforeAll(async () => {
  vi.stubEnv('HOME', home)
  for (const path of ['.ssh/id_rsa', '.ssh/config', '.aws/credentials', 'diary.md', 'src/env.md'])
    put(inHome(...path.split('/')))
  put(join(repo, 'docs', 'style.md'), 'Our style')
  put(join(repo, '.env'))
  put(join(repo, 'secrets.md'))
  symlinkSync(inHome('.ssh'), join(repo, 'keys'))
  symlinkSync(inHome('diary.md'), join(repo, 'diary.md'))
  linkSync(inHome('diary.md'), join(repo, 'hard.md'))
  app = await startTestApp()
  owner = createClient(app, app.owner)
  const agent = async (id: string) =>
    createClient(app, String((await owner.call('cowork_add_agent', { id }))['token']))
  sales = await agent('sales')
  support = await agent('support')
  registry = join(app.state, 'worksync', 'config.yaml')
})
afterAll(async () => {
  await app.close()
  vi.unstubAllEnvs()
})

const guidanceOf = (paths: readonly string[]) => ({
  inherit: [],
  project: paths.map((path, n) => ({ name: `g${n}`, path })),
})

const leaving = [
  '.ssh/id_rsa',
  '.ssh/config',
  '.aws/credentials',
  'diary.md',
  'keys/config',
  'hard.md',
  '.env',
  'secrets.md',
  '../env.md',
  'docs/../../env.md',
  inHome('.ssh', 'id_rsa'),
  '/proc/self/environ',
]

test.each(['/', home, dirname(home), inHome('.ssh'), repo, '~', '~/src/shop'].entries().toArray())(
  'RM1 PV4 with repository %i, %s, guidance exposes nothing protected or outside',
  async (n, folder) => {
    const project = `person-${n}`
    const paths = folder === home || folder === '~' ? ['.ssh/id_rsa', 'diary.md'] : leaving
    const guidance = guidanceOf(paths)
    await owner.call('worksync_register_project', { project, repo: folder, guidance })
    for (const who of [owner, sales]) {
      const guidance = await who.call('worksync_guidance', { project })
      expect(guidance['guidance']).toEqual([])
      expect(guidance['faults']).toHaveLength(paths.length)
      expect(JSON.stringify(guidance)).not.toContain(key)
      const projects = await who.call('worksync_projects', { project })
      expect(projects['projects']).toMatchObject([{ guidance: [] }])
    }
  },
)

test('RM1 W19 guidance of a registered repository is read, also after an edit or a new clone', async () => {
  const project = 'styled'
  const guidance = guidanceOf(['docs/style.md'])
  await owner.call('worksync_register_project', { project, repo, guidance })
  const read = async () => {
    const { guidance: texts, faults } = await sales.call('worksync_guidance', { project })
    expect(faults).toBeUndefined()
    return (texts as { text: string }[]).map(({ text }) => text)
  }
  expect(await read()).toEqual(['Our style'])
  put(join(repo, 'docs', 'style.md'), 'Edited')
  expect(await read()).toEqual(['Edited'])
  renameSync(repo, `${repo}-old`)
  put(join(repo, 'docs', 'style.md'), 'Cloned')
  expect(await read()).toEqual(['Cloned'])
  rmSync(repo, { recursive: true })
  renameSync(`${repo}-old`, repo)
})

test('RM1 GR8 a repository registered by an agent is read with the access of the caller', async () => {
  const project = 'named'
  const private_ = inHome('private')
  put(join(private_, 'plan.md'), 'private plan')
  const guidance = { inherit: [], project: [{ name: 'plan', path: 'plan.md' }] }
  // The entry that `worksync_register_project` writes for an agent.
  writeFileSync(
    registry,
    `projects:\n  ${project}: ${JSON.stringify({ repo: private_, guidance, registered_by: 'sales' })}\n`,
  )
  const ask = (who: Speaker) => who.call('worksync_guidance', { project })
  for (const who of [sales, support, owner])
    expect(await ask(who)).toMatchObject({ guidance: [], faults: [{ name: 'plan' }] })
  await owner.call('add_grant', { path: private_, permission: 'read', agent: 'sales' })
  expect(await ask(sales)).toMatchObject({ guidance: [{ text: 'private plan' }] })
  expect(await ask(support)).toMatchObject({ guidance: [] })
})

test('RM1 PV4 a registry edited by hand opens no protected path', async () => {
  const entries = Object.fromEntries(
    [home, '/', repo, inHome('.ssh')].map((folder, n) => [
      `hand-${n}`,
      { repo: folder, guidance: guidanceOf(leaving) },
    ]),
  )
  writeFileSync(registry, `projects: ${JSON.stringify(entries)}\n`)
  for (const project of Object.keys(entries)) {
    const guidance = await sales.call('worksync_guidance', { project })
    expect(guidance['faults'], project).toBeInstanceOf(Array)
    expect(JSON.stringify(guidance)).not.toContain(key)
  }
})

test('RM1 PV4 links in the data root are not followed: guidance, texts, prompts, work index, registry', async () => {
  const project = 'linked'
  const data = (...names: string[]) => join(app.state, 'worksync', ...names)
  const own = (...names: string[]) => data('projects', project, ...names)
  writeFileSync(registry, 'projects: {}\n')
  await owner.call('worksync_register_project', { project })
  await owner.call('worksync_add_backlog', { project, id: 'later', summary: 'Later' })
  const outside = inHome('outside')
  put(join(outside, 'later.md'))
  put(join(outside, 'general.md'))
  symlinkSync(inHome('.ssh', 'id_rsa'), own('PROMPTS', 'ask.md'))
  symlinkSync(inHome('.ssh', 'id_rsa'), own('BACKLOG', 'later.md'))
  symlinkSync(inHome('.ssh', 'id_rsa'), data('guidance', 'stolen.md'))
  const everything = async () =>
    JSON.stringify([
      await sales.call('worksync_guidance'),
      await sales.call('worksync_get', { project, item_id: 'later' }),
      await sales.call('worksync_search', { query: key }),
      await sales.call('worksync_status', { project }),
      await sales.call('worksync_projects', { project }),
    ])
  expect(await everything()).not.toContain(key)
  rmSync(own('BACKLOG'), { recursive: true })
  symlinkSync(outside, own('BACKLOG'))
  renameSync(data('guidance'), data('guidance-old'))
  symlinkSync(outside, data('guidance'))
  expect(await everything()).not.toContain(key)
  rmSync(data('guidance'))
  renameSync(data('guidance-old'), data('guidance'))
  // The folder of replaced files, and the archive.
  rmSync(own('.cowork'), { recursive: true, force: true })
  symlinkSync(outside, own('.cowork'))
  rmSync(own('COMPLETE'), { recursive: true })
  symlinkSync(outside, own('COMPLETE'))
  const sprint = { project, sprint_id: 'old' }
  await owner.call('worksync_create_sprint', sprint)
  await owner.call('worksync_update_sprint', { ...sprint, archive: true })
  await expect
    .poll(async () => JSON.stringify(await owner.call('worksync_status', { project })))
    .toContain('cowork does not follow links')
  expect(readdirSync(outside).toSorted()).toEqual(['general.md', 'later.md'])
  rmSync(own('.cowork'))
  rmSync(own('COMPLETE'))
  // A work index linked to a protected path is neither read nor written.
  put(inHome('.ssh', 'plan.yaml'), `version: 2\nbacklog:\n  - { id: x, summary: ${key} }\n`)
  rmSync(own('work-index.yaml'))
  symlinkSync(inHome('.ssh', 'plan.yaml'), own('work-index.yaml'))
  expect(await everything()).not.toContain(key)
  expect(await owner.call('worksync_add_backlog', { project, summary: 'New' })).toMatchObject({
    code: 'work_file_broken',
    message: expect.stringContaining('protected'),
  })
  expect(readdirSync(inHome('.ssh')).toSorted()).toEqual(['config', 'id_rsa', 'plan.yaml'])
  // Also over a second link, which an agent with write access to a repository could create.
  put(join(repo, 'other.yaml'), `version: 2\nbacklog:\n  - { id: x, summary: ${key} }\n`)
  symlinkSync(join(repo, 'other.yaml'), join(repo, 'plan.yaml'))
  rmSync(own('work-index.yaml'))
  symlinkSync(join(repo, 'plan.yaml'), own('work-index.yaml'))
  expect(await everything()).not.toContain(key)
  // The folder of a project, and the registry itself.
  renameSync(data('projects', project), data('moved'))
  symlinkSync(inHome('.ssh'), data('projects', project))
  writeFileSync(registry, `projects: { ${project}: {} } # again\n`)
  expect(await sales.call('worksync_status', { project })).toMatchObject({
    message: expect.stringContaining('link'),
  })
  rmSync(data('projects', project))
  renameSync(data('moved'), data('projects', project))
  rmSync(registry)
  put(inHome('elsewhere.yaml'), `projects: { stolen: { description: ${key} } }\n`)
  symlinkSync(inHome('elsewhere.yaml'), registry)
  expect(JSON.stringify(await sales.call('worksync_projects'))).not.toContain(key)
  rmSync(registry)
  writeFileSync(registry, `projects: { ${project}: {} }\n`)
})

test('RM1 PV4 the vault is not written to a protected path, by name or by link', async () => {
  const project = 'kept'
  writeFileSync(registry, 'projects: {}\n')
  await owner.call('worksync_register_project', { project })
  const before = readdirSync(inHome('.ssh'))
  const sync = () => sales.call('worksync_sync')
  for (const folder of ['~/.ssh', inHome('.ssh', 'deep'), join(repo, '.git', 'hooks'), '/etc/x']) {
    writeFileSync(registry, `vault_path: ${folder}\nprojects: { ${project}: {} }\n`)
    expect(await sync(), folder).toMatchObject({ code: 'forbidden_path' })
  }
  writeFileSync(registry, `projects: { ${project}: {} }\n`)
  const vault = join(app.state, 'worksync', 'vault')
  rmSync(vault, { recursive: true, force: true })
  symlinkSync(inHome('.ssh'), vault)
  expect(await sync()).toMatchObject({ code: 'forbidden_path' })
  rmSync(vault)
  // A link inside the vault is not followed either.
  mkdirSync(join(vault, 'projects'), { recursive: true })
  symlinkSync(inHome('.ssh'), join(vault, 'projects', project))
  expect(await sync()).toMatchObject({ code: 'vault_blocked' })
  rmSync(join(vault, 'projects', project))
  // A manifest can name only notes in the vault.
  const manifest = JSON.stringify({ '../../../diary.md': 'x', [inHome('diary.md')]: 'x' })
  writeFileSync(join(vault, '.worksync-manifest.json'), manifest)
  expect(await sync()).toMatchObject({ code: 'vault_blocked' })
  expect(existsSync(inHome('diary.md'))).toBe(true)
  expect(readdirSync(inHome('.ssh'))).toEqual(before)
})
