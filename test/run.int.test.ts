// The two-command bootstrap in a folder of its own. `npm` is a stand-in that lays out this
// repository's packages by links and says what it was asked, so nothing is downloaded.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const modules = join(process.cwd(), 'node_modules')
const standIn = `#!/bin/sh
echo "$*" >> npm.log
echo "noise on stdout"
[ -z "$NPM_FAILS" ] || exit 3
rm -rf node_modules && mkdir node_modules && sleep 0.3
ln -s "${modules}"/* node_modules/ && ln -s "${modules}/.bin" node_modules/.bin
cp "${modules}/.package-lock.json" node_modules/
`
// Makes the scripts see an older Node.
const older = `data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'20.0.0'}})`

type Result = { code: number; stdout: string; stderr: string }

async function freshClone() {
  const root = await mkdtemp(join(tmpdir(), 'cowork-clone-'))
  onTestFinished(() => rm(root, { recursive: true }))
  const needed = [
    'bin',
    'scripts/run.mjs',
    'scripts/console.mjs',
    'package.json',
    'package-lock.json',
  ]
  for (const path of needed) {
    await cp(path, join(root, path), { recursive: true })
  }
  await mkdir(join(root, 'src', 'cli'), { recursive: true })
  await writeFile(
    join(root, 'src', 'cli', 'main.ts'),
    'const args: string[] = process.argv.slice(2)\nconsole.log(args.join())\nprocess.exitCode = 4\n',
  )
  await mkdir(join(root, 'tools'))
  await writeFile(join(root, 'tools', 'npm'), standIn)
  await chmod(join(root, 'tools', 'npm'), 0o755)

  const env = { ...process.env, PATH: [join(root, 'tools'), process.env['PATH']].join(delimiter) }
  const node = (args: string[], extra: Record<string, string> = {}) =>
    new Promise<Result>((resolve) => {
      const options = { cwd: root, env: { ...env, ...extra } }
      const child = execFile(process.execPath, args, options, (_, stdout, stderr) =>
        resolve({ code: child.exitCode ?? -1, stdout, stderr }),
      )
    })
  const installs = async () => {
    const log = await readFile(join(root, 'npm.log'), 'utf8')
    return log.trim().split('\n').length
  }
  const locks = async () => (await readdir(root)).filter((name) => name.includes('.lock'))
  return { root, env, node, installs, locks }
}

const run = (...args: string[]) => ['scripts/run.mjs', ...args]

test('SV1 concurrent first runs install once, and all run', async () => {
  const { node, installs, locks } = await freshClone()
  const results = await Promise.all([1, 2, 3].map((n) => node(run('node', '-p', String(n)))))
  expect(results.map(({ code, stdout }) => [code, stdout])).toEqual([
    [0, '1\n'],
    [0, '2\n'],
    [0, '3\n'],
  ])
  expect(await installs()).toBe(1)
  expect(await locks()).toEqual([])
  await node(run('node', '-p', '4'))
  expect(await installs()).toBe(1)
})

test('SV1 the lock of a run that died is taken over', async () => {
  const { root, node, installs, locks } = await freshClone()
  const owner = spawn(process.execPath, ['-e', '0'])
  await once(owner, 'exit')
  await mkdir(join(root, '.cowork-install.lock'))
  await writeFile(join(root, '.cowork-install.lock', String(owner.pid)), '')
  expect(await node(run('node', '-p', '1'))).toMatchObject({ code: 0, stdout: '1\n' })
  expect(await installs()).toBe(1)
  expect(await locks()).toEqual([])
})

test('SV1 a failed install is reported, runs nothing and leaves no lock', async () => {
  const { node, locks } = await freshClone()
  const result = await node(run('node', '-p', '1'), { NPM_FAILS: 'yes' })
  expect(result).toMatchObject({ code: 1, stdout: '' })
  expect(result.stderr).toContain('npm ci failed with 3')
  expect(await locks()).toEqual([])
})

test('SV1 a command keeps its exit code and gets the signals', async () => {
  const { root, env, node } = await freshClone()
  expect(await node(run('node', '-e', 'process.exit(7)'))).toMatchObject({ code: 7 })
  const script = `process.on('SIGTERM', () => process.exit(9)); setInterval(() => {}, 1e3); console.log('up')`
  const child = spawn(process.execPath, run('node', '-e', script), { cwd: root, env })
  await once(child.stdout, 'data')
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([9, null])
})

test('SV1 an older Node hands over to the pinned one', async () => {
  const { node } = await freshClone()
  const version = await node(['--import', older, ...run('node', '-p', 'process.versions.node')])
  expect(version).toMatchObject({ code: 0, stdout: `${process.versions.node}\n` })
  const launched = await node(['--import', older, 'bin/cowork.mjs', 'a', 'b'])
  expect(launched).toMatchObject({ code: 4, stdout: 'a,b\n' })
})

test('SV1 without a pinned Node, an older one is refused in one line', async () => {
  const { root, node } = await freshClone()
  await writeFile(join(root, 'package-lock.json'), '{"packages":{}}')
  for (const args of [run('node', '-p', '1'), ['bin/cowork.mjs']]) {
    const result = await node(['--import', older, ...args])
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(result.stderr).toMatch(/^cowork needs Node 24 or newer .*\n$/)
  }
})

test('SV1 the first run that needs the console builds it, and again after a source change', async () => {
  const { root, node, locks } = await freshClone()
  await mkdir(join(root, 'web'))
  const source = (text: string) => writeFile(join(root, 'web', 'index.html'), `<p>${text}</p>`)
  const built = () => readFile(join(root, 'web', 'dist', 'index.html'), 'utf8')
  const start = () => node(run('--console', 'node', '-p', '1'))

  await source('first')
  const both = await Promise.all([start(), start()])
  expect(both.map(({ code, stdout }) => [code, stdout])).toEqual([
    [0, '1\n'],
    [0, '1\n'],
  ])
  expect(both.filter(({ stderr }) => stderr.includes('Building the console'))).toHaveLength(1)
  expect(await built()).toContain('first')
  expect((await start()).stderr).toBe('')

  await source('second')
  expect((await start()).stderr).toContain('Building the console')
  expect(await built()).toContain('second')

  await source('<script type="module" src="./missing.ts"></script>')
  expect(await start()).toMatchObject({ code: 1, stdout: '' })
  expect(await locks()).toEqual([])
})
