import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { grantChoices } from '../src/cli/choices.ts'
import { grantChoices as daemonChoices } from '../src/files/rules/choices.ts'
import { newPlace, testPlace } from './cli.ts'
import { inTerminal } from './terminal.ts'

const jsonOf = (text: string) => JSON.parse(text) as Record<string, unknown>

/** The folder of the user’s files, outside the folders of cowork. */
const user = mkdtempSync(join(tmpdir(), 'cowork-user-'))
const home = join(user, 'home')
const documents = join(home, 'Documents')
const workspace = join(home, 'Downloads', 'AI-Workspace')
mkdirSync(documents, { recursive: true })

const place = newPlace('approvals: { undo_hold: 10m }\n')
const env = { HOME: home }
const cowork = (args: string[], input?: string) => place.cowork(args, env, input)
/** A command with a person at a terminal. */
const byHand = (args: string[], more: Record<string, string> = {}) =>
  inTerminal(place, args, { ...env, ...more }).ended()
let token = ''

beforeAll(async () => {
  writeFileSync(join(documents, 'notes.md'), 'one\ntwo\nthree\n')
  writeFileSync(join(documents, 'secret.key'), 'hidden\n')
  await cowork(['up', '-d'])
  token = String(jsonOf((await cowork(['agents', 'add', 'sales', '--json'])).stdout)['token'])
})
afterAll(async () => {
  await place.end()
  rmSync(user, { recursive: true, force: true })
})

/** As the agent, over the API. */
async function call(tool: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  const answer = await fetch(`http://localhost:${place.daemon().port}/api/tools/${tool}/call`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ arguments: args }),
  })
  const { output, error } = (await answer.json()) as {
    output?: Record<string, unknown>
    error?: Record<string, unknown>
  }
  return output ?? error ?? {}
}

const ask = async (path: string, permission = 'read') =>
  String((await call('request_grant', { path, permission, reason: 'To look.' }))['request_id'])

const seesOn = (screen: { output: () => string }) => async (text: string) => {
  await expect.poll(screen.output, { timeout: 20_000 }).toContain(text)
}

const grants = async () =>
  jsonOf((await cowork(['grants', '--json'])).stdout)['grants'] as Record<string, string>[]
const grantOf = async (path: string) => (await grants()).find((grant) => grant['path'] === path)

describe('files', () => {
  beforeAll(async () => {
    const create = (path: string, content: string) => call('create_file', { path, content })
    await create('Documents/notes/a.md', '# A\n\nfind me\n')
    await create('Code/python/b.py', 'print(1)\n')
    await call('update_file', {
      path: 'Documents/notes/a.md',
      content: '# B\n',
      create_backup: false,
    })
  })

  test('K1, K2, FT3 ls and tree show what is there, in JSON with its schema version', async () => {
    const { code, stdout } = await cowork(['files', 'ls'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^SIZE +CHANGED +NAME$/m)
    expect(stdout).toMatch(/ Documents\/$/m)
    const all = jsonOf((await cowork(['files', 'ls', '-r', '--json', 'Documents'])).stdout)
    expect(all).toMatchObject({ schemaVersion: 1 })
    expect(JSON.stringify(all)).toContain('notes/a.md')
    expect((await cowork(['files', 'ls', '-n', '1'])).stderr).toContain('More rows exist')
    const tree = await cowork(['files', 'tree', 'Documents'])
    expect(tree.stdout).toMatch(/^notes\/\n {2}a\.md$/m)
  })

  test('K2, K3, FT2 cat gives the content to a pipe, and says why it cannot', async () => {
    expect(await cowork(['files', 'cat', 'Code/python/b.py'])).toMatchObject({
      code: 0,
      stdout: 'print(1)\n',
    })
    expect(await cowork(['files', 'cat', 'no.txt'])).toMatchObject({ code: 3, stdout: '' })
    const closed = await cowork(['files', 'cat', join(documents, 'notes.md')])
    expect(closed).toMatchObject({ code: 5, stdout: '' })
    const folder = await cowork(['files', 'cat', 'Documents'])
    expect(folder).toMatchObject({ stdout: '', stderr: expect.stringContaining('cowork files ls') })
    expect(folder.stderr).not.toContain('list_files')
    expect(await cowork(['files', 'cat', '../x'])).toMatchObject({ code: 2 })
    expect(await cowork(['files', 'cat', 'x', '--lines', '9-3'])).toMatchObject({ code: 2 })
    expect(await cowork(['files', 'cat', 'x', '--head', '1', '--tail', '1'])).toMatchObject({
      code: 2,
    })
  })

  test('K2, PV8 on a terminal nothing in a file or its name moves the cursor', async () => {
    await call('create_file', { path: 'temp/odd\u202e.txt', content: 'a\u001b[2Jb\n' })
    const { output } = await byHand(['files', 'cat', 'temp/odd\u202e.txt'])
    expect(output).toContain('aU+001B[2Jb')
    expect((await cowork(['files', 'ls', 'temp'])).stdout).toContain('oddU+202E.txt')
  })

  test('K1, FT6 search finds by name and by content, and says where', async () => {
    expect((await cowork(['files', 'search', 'b.py'])).stdout).toBe(
      `${join(workspace, 'Code/python/b.py')}\n`,
    )
    const { stdout } = await cowork(['files', 'search', 'print', '--content', '--type', '.py'])
    expect(stdout).toMatch(/b\.py:1 {2}print\(1\)$/m)
    expect((await cowork(['files', 'search', 'nothing-like-this'])).stdout).toBe('No matches.\n')
    const inFolder = (folder: string) => cowork(['files', 'search', 'b.py', '--in', folder])
    expect((await inFolder('Code/python')).stdout).toContain('b.py')
    expect((await inFolder('Documents')).stdout).toBe('No matches.\n')
    expect(await inFolder('moon')).toMatchObject({ code: 3 })
    expect(await inFolder(documents)).toMatchObject({ code: 5 })
    writeFileSync(join(workspace, 'temp', 'a.pdf'), '%PDF-1.4')
    const { stdout: none, stderr } = await cowork(['files', 'search', 'PDF', '--content'])
    expect(none).toBe('No matches.\n')
    expect(stderr).toContain('1 document was not searched')
  })

  test('TR3, K2 restore puts an earlier content back, and itself can be undone', async () => {
    const path = 'Documents/notes/a.md'
    const listed = await cowork(['files', 'versions', path])
    expect(listed.stdout).toMatch(/^VERSION +UNTIL/)
    expect(listed.stdout).toMatch(/ sales +update_file$/m)
    const { versions } = jsonOf((await cowork(['files', 'versions', path, '--json'])).stdout) as {
      versions: { version_id: string }[]
    }
    const id = versions[0]?.version_id ?? ''
    for (const version of [[], [id]])
      expect((await cowork(['files', 'diff', path, ...version])).stdout).toMatch(/^\+/m)
    expect(await cowork(['files', 'restore', path, 'zzzz'])).toMatchObject({ code: 3 })
    const restored = await cowork(['files', 'restore', path, id])
    expect(restored, restored.stderr).toMatchObject({ code: 0 })
    expect((await cowork(['files', 'cat', path])).stdout).toContain('find me')
    expect(await cowork(['files', 'restore', path])).toMatchObject({ code: 0 })
    expect((await cowork(['files', 'cat', path])).stdout).toBe('# B\n')
    expect(await cowork(['files', 'restore', 'Code/python/b.py'])).toMatchObject({ code: 3 })
  })

  test('TR1, K3 the trash is listed, restored from, and purged by a person only', async () => {
    for (const name of ['one', 'two']) {
      await call('create_file', { path: `temp/${name}.txt`, content: name })
      await call('delete_file', { path: `temp/${name}.txt` })
    }
    const { stdout } = await cowork(['trash'])
    expect(stdout).toMatch(/ sales .*temp\/two\.txt$/m)
    const { items } = jsonOf((await cowork(['trash', 'list', '--json'])).stdout) as {
      items: { trash_id: string; path: string }[]
    }
    const [two, one] = items
    const first = jsonOf((await cowork(['trash', 'list', '-n', '1', '--json'])).stdout)
    expect(first['items']).toEqual([two])
    expect(two?.path).toBe(join(workspace, 'temp/two.txt'))
    const back = await cowork(['trash', 'restore', one?.trash_id ?? ''])
    expect(back, back.stderr).toMatchObject({ code: 0 })
    expect(readFileSync(join(workspace, 'temp/one.txt'), 'utf8')).toBe('one')
    expect(await cowork(['trash', 'restore', one?.trash_id ?? ''])).toMatchObject({ code: 3 })
    expect(await cowork(['trash', 'purge', '--all', '--yes'])).toMatchObject({ code: 4 })
    expect(await cowork(['trash', 'purge'])).toMatchObject({ code: 2 })
    const purged = await byHand(['trash', 'purge', two?.trash_id ?? '', '--yes'])
    expect(purged.output).toContain('Deleted 1 item permanently.')
    expect((await byHand(['trash', 'purge', two?.trash_id ?? '', '--yes'])).code).toBe(3)
  })

  test('TR1, K3 what stands in the way of a restore is said to a person, and so is a folder', async () => {
    await call('create_file', { path: 'temp/taken/in.txt', content: 'x' })
    await call('delete_file', { path: 'temp/taken' })
    await call('create_file', { path: 'temp/taken/other.txt', content: 'y' })
    const { items } = jsonOf((await cowork(['trash', 'list', '--json'])).stdout) as {
      items: { trash_id: string }[]
    }
    const { stdout } = await cowork(['trash'])
    expect(stdout).toMatch(/ sales +- .*temp\/taken$/m)
    const back = await cowork(['trash', 'restore', items[0]?.trash_id ?? ''])
    expect(back.stderr).toContain('Choose another path with --to.')
  })

  test('K3 Ctrl-D at a question is like Ctrl-C', async () => {
    const screen = inTerminal(place, ['trash', 'purge', '--all'])
    await seesOn(screen)('permanently?')
    screen.press('\u0004')
    const { code, output } = await screen.ended()
    expect(code, output).toBe(130)
    expect(output).not.toContain('top-level await')
    const [before, after] = screen.settings()
    expect(after).toBe(before)
  })

  test('K3 a person is not told to call a tool', async () => {
    for (const args of [
      ['ls', '/nowhere'],
      ['cat', '/etc/passwd'],
      ['cat', 'no.md'],
      ['search', ''],
    ]) {
      const { code, stderr } = await cowork(['files', ...args])
      expect(code).not.toBe(0)
      expect(stderr).toMatch(/`cowork |another program/)
      expect(stderr).not.toMatch(/request_grant|list_files|tools\/list|ask a person/)
    }
  })
})

describe('grants', () => {
  test('GR3, GR8, I10 a script cannot answer a request for access; a person chooses how much', async () => {
    const file = join(documents, 'notes.md')
    const id = await ask(file)
    expect(await cowork(['approve', id, '--allow', 'file'])).toMatchObject({ code: 4 })
    expect((await byHand(['approve', id, '--allow', 'always'])).code).toBe(2)
    expect(await grantOf(file)).toBeUndefined()
    const approved = await byHand(['approve', id, '--allow', 'file'])
    expect(approved.code, approved.output).toBe(0)
    expect(approved.output).toContain(`sales may read ${file}.`)
    expect(approved.output).toContain(`Run \`cowork grants revoke ${id}\` to revoke the grant.`)
    expect(await grantOf(file)).toMatchObject({ permission: 'read', scope: 'permanent' })
    expect(await call('read_file', { path: file })).toMatchObject({ content: 'one\ntwo\nthree\n' })
    expect((await cowork(['files', 'cat', file, '--lines', '2'])).stdout).toBe('two\n')
  })

  test('GR3, C2 the inbox says what is wanted, and the narrowest answer is one key away', async () => {
    const id = await ask(documents)
    const { stdout } = await cowork(['inbox', id])
    expect(stdout).toContain(`AI wants to read files in: ${documents}`)
    expect(stdout).toContain('│ To look.')
    expect(stdout).toMatch(/\d+ files? in/)
    expect(stdout).toContain('secret.key')
    const screen = inTerminal(place, ['inbox', '--kind', 'grant'], env)
    const sees = seesOn(screen)
    await sees('AI wants to read')
    screen.press('a')
    await sees('❯ 1 Allow folder this session')
    screen.press('\r')
    await sees('Approved.')
    screen.press('q')
    await screen.ended()
    expect(await grantOf(documents)).toMatchObject({ permission: 'read', scope: 'session' })
  })

  test('GR3 after a permanent denial, people get no further request of the agent', async () => {
    const other = join(home, 'Private')
    mkdirSync(other)
    const id = await ask(other)
    const denied = await byHand(['reject', id, '--never'])
    expect(denied.code, denied.output).toBe(0)
    expect(denied.output).toContain(`sales may not use ${other}`)
    const again = await call('request_grant', { path: other, permission: 'read', reason: 'Please' })
    expect(again).toMatchObject({ status: 'denied' })
    const asked = await call('cowork_propose', {
      domain: 'crm',
      action: 'x',
      target: 'y',
      proposed_change: {},
      confidence: 0.5,
      reasoning: 'z',
    })
    const wrong = ['reject', String(asked['proposal_id']), '--type', 'edge_case', '--never']
    expect((await byHand(wrong)).code).toBe(2)
  })

  test('GR10, GR4, K2 what a person hands over is a read grant, listed, shown and revoked by a prefix', async () => {
    const file = join(home, 'handed.txt')
    writeFileSync(file, 'x')
    expect(await cowork(['grants', 'add', file])).toMatchObject({ code: 4 })
    const added = await byHand(['grants', 'add', file])
    expect(added.code, added.output).toBe(0)
    const grant = await grantOf(file)
    expect(grant).toMatchObject({ permission: 'read', granted_by: 'user_implicit', agent: '*' })
    const id = String(grant?.['id'])
    expect((await cowork(['grants', 'list', '--agent', 'sales'])).stdout).toContain(file)
    expect((await cowork(['grants', 'show', id.slice(0, -4)])).stdout).toContain(`path:`)
    const revoked = await cowork(['grants', 'revoke', id.replace('grant_', '').slice(0, -4)])
    expect(revoked, revoked.stderr).toMatchObject({ code: 0 })
    expect(await grantOf(file)).toBeUndefined()
    expect(await cowork(['grants', 'revoke', id])).toMatchObject({ code: 3 })
    expect(await call('read_file', { path: file })).toMatchObject({ code: 'no_grant' })
  })

  test('GR4, K2, K3 a grant is shown and revoked by its path; one that is not known leads to those there are', async () => {
    const folders = ['One', 'Two'].map((name) => join(home, name))
    const [one = '', two = ''] = folders
    for (const folder of folders) {
      mkdirSync(folder)
      await byHand(['grants', 'add', folder])
    }
    const { stdout } = await cowork(['grants', 'show', one])
    expect(stdout).toMatch(/^granted: +\d{4}-\d\d-\d\d \d\d:\d\d, user_explicit$/m)
    const revoked = await cowork(['grants', 'revoke', `${one}/`])
    expect(revoked, revoked.stderr).toMatchObject({ code: 0 })
    expect(await grantOf(one)).toBeUndefined()
    const unknown = await cowork(['grants', 'revoke', one])
    expect(unknown).toMatchObject({ code: 3 })
    expect(unknown.stderr).toMatch(new RegExp(`^ {2}[0-9a-f-]+ +all +read +${two}$`, 'm'))
    await byHand(['grants', 'add', two, '--agent', 'sales', '--permission', 'read-write'])
    const both = await cowork(['grants', 'revoke', two])
    expect(both).toMatchObject({ code: 2 })
    expect(both.stderr).toContain(`Several grants match: ${two}.`)
    expect(both.stderr).toMatch(/^ {2}[0-9a-f-]+ +sales +read-write /m)
    for (const { id = '', path } of await grants())
      if (path === two) await cowork(['grants', 'revoke', id])
    expect(await grantOf(two)).toBeUndefined()
  })

  test('GR1, GR9, PV4 a folder may be opened further, until a time; what is closed stays so', async () => {
    const folder = join(home, 'Work')
    mkdirSync(folder)
    const args = ['grants', 'add', folder, '--permission', 'read-write', '--until', '2h']
    const added = await byHand([...args, '--agent', 'sales'])
    expect(added.code, added.output).toBe(0)
    expect(await grantOf(folder)).toMatchObject({
      agent: 'sales',
      permission: 'read-write',
      granted_by: 'user_explicit',
      expires_at: expect.stringMatching(/Z$/),
    })
    expect((await byHand(['grants', 'add', folder, '--until', 'soon'])).code).toBe(2)
    expect((await byHand(['grants', 'add', '/etc'])).code).toBe(5)
    expect((await byHand(['grants', 'add', folder], { CLAUDECODE: '1' })).code).toBe(4)
  })
})

test('GR3 the command line knows the same answers as the daemon', () => {
  const words = [...grantChoices, 'until', 'deny', 'deny_always']
  expect(words.toSorted()).toEqual(daemonChoices.toSorted())
})

test('K7 the demo leaves files, an earlier version, something in the trash, and a request', async () => {
  const played = await cowork(['demo', '--proposals', '4', '--pace', '0'])
  expect(played, played.stderr).toMatchObject({ code: 0 })
  expect(played.stderr).toContain('an access request')
  const asked = jsonOf((await cowork(['inbox', '--json', '--agent', 'demo-careful'])).stdout)
  expect(JSON.stringify(asked['items'])).toContain(`AI wants to read files in: ${documents}`)
  // And its agent is there, for whom it would be opened; the next demo takes it up again.
  const { agents } = jsonOf((await cowork(['agents', 'ls', '--json'])).stdout)
  expect(agents).toContainEqual(expect.objectContaining({ id: 'demo-careful', status: 'active' }))
  expect(await cowork(['demo', '--proposals', '4', '--pace', '0'])).toMatchObject({ code: 0 })
  const week = 'Documents/reports/demo-week.md'
  expect((await cowork(['files', 'cat', week])).stdout).toContain('2 deals won')
  expect((await cowork(['files', 'versions', week])).stdout).toContain('demo-careful')
  expect((await cowork(['trash'])).stdout).toContain('demo-scratch.txt')
})

describe('workspace', () => {
  test('FT7, K2 info says where it is, and open prints it where there is no desktop', async () => {
    const info = jsonOf((await cowork(['workspace', 'info', '--json'])).stdout)
    expect(info).toMatchObject({ schemaVersion: 1, workspace_path: workspace })
    expect((await cowork(['workspace'])).stdout).toMatch(/^sandbox: /m)
    expect((await cowork(['workspace', 'info'])).stdout).not.toMatch(/files, 0 B$/m)
    expect((await cowork(['workspace', 'open'])).stdout).toBe(`${workspace}\n`)
  })

  test('C9, F1, I10 another folder is written into the configuration, from the next start on', async () => {
    const before = readFileSync(place.paths.config, 'utf8')
    expect(await cowork(['workspace', 'choose', join(home, 'AI')])).toMatchObject({ code: 4 })
    expect((await byHand(['workspace', 'choose', place.state])).code).toBe(5)
    expect((await byHand(['workspace', 'choose', join(documents, 'notes.md')])).code).toBe(2)
    expect(readFileSync(place.paths.config, 'utf8')).toBe(before)
    // A folder with files of the user is not changed.
    const inside = await byHand(['workspace', 'choose', documents])
    expect(inside.code, inside.output).toBe(0)
    expect(inside.output).toContain(`${documents} contains files and is not changed.`)
    expect(readFileSync(place.paths.config, 'utf8')).toMatch(/Documents\/AI-Workspace$/m)
    const chosen = await byHand(['workspace', 'choose', join(home, 'AI')])
    expect(chosen.code, chosen.output).toBe(0)
    expect(chosen.output).toContain('cowork restart')
    const doctor = await cowork(['doctor'])
    expect(doctor.stdout).toMatch(/^warn {2}workspace/m)
    for (const command of [['workspace', 'info'], ['status']]) {
      const { stdout, stderr } = await cowork(command)
      expect(stdout).toMatch(new RegExp(`^workspace: +${workspace}$`, 'm'))
      expect(stdout).toMatch(new RegExp(`^at restart: +${join(home, 'AI')}$`, 'm'))
      expect(stderr).toContain('`cowork restart`')
    }
    expect(await cowork(['restart'])).toMatchObject({ code: 0 })
    expect(existsSync(join(home, 'AI', 'Documents', 'reports'))).toBe(true)
    expect((await cowork(['workspace', 'open', '--print'])).stdout).toBe(`${join(home, 'AI')}\n`)
    expect((await cowork(['workspace', 'info'])).stdout).not.toContain('at restart')
    const entries = (await cowork(['audit', 'tail', '-n', '200', '--json'])).stdout
    expect(entries).toContain('workspace_choose')
  })

  test('K5, PV9, GR4 of a grant whose folder is gone, or replaced, it is said which', async () => {
    const folder = join(home, 'gone')
    mkdirSync(folder)
    await byHand(['grants', 'add', folder])
    const listed = async () => (await cowork(['grants'])).stdout
    rmSync(folder, { recursive: true })
    const { stdout } = await cowork(['doctor', '--json'])
    expect(stdout).toContain(`Granted path not found: ${folder}.`)
    expect(await listed()).toMatch(new RegExp(`inactive: path missing .*${folder}$`, 'm'))
    expect((await cowork(['grants', 'show', folder])).stdout).toMatch(
      /^lasts: +inactive: path missing$/m,
    )
    writeFileSync(folder, 'another')
    expect(await listed()).toMatch(new RegExp(`inactive: path replaced .*${folder}$`, 'm'))
  })
})

describe('what must not happen by an accident', () => {
  test.each(['/', '~', '..'])('GR10 to open %s, the home with it, takes a yes', async (path) => {
    const screen = inTerminal({ ...place, state: documents }, ['grants', 'add', path], env)
    await seesOn(screen)('Grant agents access to all of it?')
    screen.press('\r')
    const { code, output } = await screen.ended()
    expect(code, output).toBe(1)
    expect((await grants()).map((grant) => grant['path'])).not.toContain(home)
  })

  test('GR10, K2 --yes is a yes to that', async () => {
    const { code, output } = await byHand(['grants', 'add', '~', '--yes', '--until', '1m'])
    expect(code, output).toBe(0)
    expect(output).toContain(`Agents may read ${home} until `)
    await cowork(['grants', 'revoke', (await grantOf(home))?.['id'] ?? ''])
  })

  test('GR4, GR10 a grant for what was denied says that it replaces the denial', async () => {
    const file = join(home, 'once-denied.md')
    writeFileSync(file, 'x')
    const denial = await byHand(['reject', await ask(file), '--never'])
    expect(denial.code, denial.output).toBe(0)
    const all = await byHand(['grants', 'add', file])
    expect(all.output).toContain('Still denied to sales.')
    const added = await byHand(['grants', 'add', file, '--agent', 'sales'])
    expect(added.output).toContain('Replaces the denial for sales.')
    expect((await grants()).filter((one) => one['permission'] === 'deny')).not.toContainEqual(
      expect.objectContaining({ path: file }),
    )
  })

  test('GR10 an empty path is not the folder one is in', async () => {
    const added = await byHand(['grants', 'add', ''])
    expect(added.code, added.output).toBe(2)
    await byHand(['grants', 'add', documents])
    const there = { ...place, state: documents }
    const revoked = await inTerminal(there, ['grants', 'revoke', ''], env).ended()
    expect(revoked.code, revoked.output).toBe(3)
    expect(await grantOf(documents)).toBeDefined()
    expect((await inTerminal(there, ['grants', 'revoke', '.'], env).ended()).code).toBe(0)
    expect(await grantOf(documents)).toBeUndefined()
  })

  test('GR4, I10 a denial is lifted by a person only', async () => {
    const file = join(documents, 'denied.md')
    const id = await ask(file)
    expect((await byHand(['reject', id, '--never'])).code).toBe(0)
    const denial = await grantOf(file)
    expect(denial).toMatchObject({ permission: 'deny' })
    expect(await cowork(['grants', 'revoke', denial?.['id'] ?? ''])).toMatchObject({ code: 4 })
    expect((await byHand(['grants', 'revoke', denial?.['id'] ?? ''])).code).toBe(0)
  })
})

describe('init', () => {
  const fresh = () => {
    const { state, paths, ...rest } = testPlace()
    rmSync(paths.config)
    mkdirSync(join(state, 'home', 'Documents'), { recursive: true })
    const inside = { HOME: join(state, 'home'), COWORK_STATE_DIR: join(state, 'home', '.cowork') }
    return {
      ...rest,
      state,
      own: inside.HOME,
      config: join(inside.COWORK_STATE_DIR, 'cowork.yaml'),
      inside,
    }
  }

  test('C9, K2 flags answer everything, without a terminal, and nothing hangs', async () => {
    const { own, config, inside, cowork: run } = fresh()
    const flags = ['--workspace', join(own, 'AI'), '--notify', 'desktop', '--yes', '--json']
    const made = await run(['init', ...flags], inside)
    expect(made, made.stderr).toMatchObject({ code: 0 })
    const text = readFileSync(config, 'utf8')
    expect(text).toContain(`workspace:\n  path: ${join(own, 'AI')}\n`)
    expect(text).toContain('- id: desktop\n      type: desktop\n')
    expect(text).toMatch(/^# {3}port: 8765$/m)
    const state = inside.COWORK_STATE_DIR
    expect(await run(['init', '--yes', '--workspace', state], inside)).toMatchObject({ code: 5 })
    expect(await run(['init', '--yes', '--notify', 'drums'], inside)).toMatchObject({ code: 2 })
  })

  test('C9, F1 a folder that holds something does not become the workspace, nor does the home', async () => {
    const { own, config, inside, cowork: run } = fresh()
    writeFileSync(join(own, 'Documents', 'mine.md'), '')
    const flags = ['--yes', '--workspace', join(own, 'Documents')]
    const made = await run(['init', ...flags], inside)
    expect(made, made.stderr).toMatchObject({ code: 0 })
    expect(made.stderr).toContain(`${join(own, 'Documents')} is not empty`)
    expect(readFileSync(config, 'utf8')).toMatch(/^ {2}path: .*\/Documents\/AI-Workspace$/m)
    expect(await run(['init', '--yes', '--workspace', own], inside)).toMatchObject({ code: 0 })
    expect(readFileSync(config, 'utf8')).toMatch(/^ {2}path: .*\/home\/AI-Workspace$/m)
  })

  test('C9, SV5 a second time it finds everything said, and leaves the file as it is', async () => {
    const { config, inside, cowork: run } = fresh()
    expect(await run(['init', '--yes'], inside)).toMatchObject({ code: 0 })
    const text = readFileSync(config, 'utf8')
    const again = await run(['init', '--yes'], inside)
    expect(again.stdout).toContain('No changes: ')
    expect(again.stderr).toContain('Setup questions are only for a new cowork.yaml')
    expect(readFileSync(config, 'utf8')).toBe(text)
  })

  test('C9, K3 what a flag says wrong is said before anything is made or started', async () => {
    const { own, config, inside, cowork: run } = fresh()
    const wrong = [
      ['--connect', 'foo'],
      ['--grant', join(own, 'nothing')],
    ]
    for (const flags of wrong)
      expect(await run(['init', '--yes', ...flags], inside)).toMatchObject({ code: 3 })
    expect(existsSync(config)).toBe(false)
    expect(await run(['status'], inside)).toMatchObject({ code: 8 })
  })

  test('C9, GR8, I10 granting needs a person, and is refused before anything is written', async () => {
    const { own, config, inside, cowork: run } = fresh()
    const args = ['init', '--yes', '--grant', join(own, 'Documents')]
    expect(await run(args, inside)).toMatchObject({ code: 4 })
    expect(existsSync(config)).toBe(false)
  })

  test('C9, GR9 on a terminal it asks: where, which folders, how to be told, and whether to practise', async () => {
    const { own, config, inside, state, env: base, cowork: run } = fresh()
    mkdirSync(join(own, 'Papers'))
    const screen = inTerminal({ state, env: { ...base, ...inside } }, ['init'])
    const sees = seesOn(screen)
    await sees('Where should AI save files it creates?')
    screen.press('\r')
    await sees('Grant AI access to these folders now? (You can always grant more access')
    await sees('Skip for Now')
    screen.press('j\r')
    await sees('What may AI do in ~/Documents?')
    screen.press('j\r')
    await sees('Continue')
    // To the last choice, which asks for a path: an Enter too many opens nothing.
    screen.press('k\r')
    await sees('Which folder?')
    screen.press('\r')
    await sees('Enter a path, such as ~/AI.')
    screen.press('~/nowhere\r')
    await sees('Folder not found.')
    screen.press('\u0015~/Papers\r')
    await sees('What may AI do in ~/Papers?')
    screen.press('\r')
    await sees('~/Papers (read)')
    screen.press('\r')
    await sees('How do you want to be notified?')
    screen.press('\r')
    await sees('practice round')
    screen.press('\r')
    await sees(`Write ${config}?`)
    screen.press('\r')
    const { code, output } = await screen.ended()
    expect(code, output).toBe(0)
    const listed = jsonOf((await run(['grants', '--json'], inside)).stdout)
    expect(listed['grants']).toMatchObject([
      {
        path: join(own, 'Documents'),
        permission: 'read-write',
        granted_by: 'system_setup',
        scope: 'permanent',
      },
      { path: join(own, 'Papers'), permission: 'read' },
    ])
    expect(existsSync(join(own, 'Downloads', 'AI-Workspace', 'Documents'))).toBe(true)
    await run(['down'], inside)
  })
})
