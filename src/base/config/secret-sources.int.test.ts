import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempHome } from '../../../test/base/config/config.fixture.ts'
import { resolveReference } from './secret-sources.ts'

const env = { PATH: '/usr/bin:/bin', NAME: 'Ada' }

test('I8 cmd: uses the trimmed output of a shell command', async () => {
  expect(await resolveReference('cmd:printf " %s\\n" "$NAME" | tr a-z A-Z', 'x', { env })).toBe(
    'ADA',
  )
})

test('I8 the error of a failed command has its exit code without its output', async () => {
  const refused = resolveReference('cmd:echo hunter22; echo hunter22 >&2; exit 3', 'work.api_key', {
    env,
  })
  await expect(refused).rejects.toMatchObject({
    code: 'secret_unresolved',
    message: 'Cannot resolve work.api_key: the command failed with exit code 3.',
  })
})

test('I8 a command that exceeds the timeout is killed with its children', async () => {
  const { home } = tempHome()
  const late = join(home, 'late')
  const refused = resolveReference(`cmd:sh -c 'sleep 1; touch ${late}'; echo x`, 'x', {
    env,
    commandTimeoutMs: 200,
  })
  await expect(refused).rejects.toThrow('the command took longer than 0.2 s')
  await new Promise((resolve) => setTimeout(resolve, 1500))
  expect(existsSync(late)).toBe(false)
})

test('I8 a command with unlimited output is killed', async () => {
  await expect(resolveReference('cmd:yes', 'x', { env })).rejects.toThrow(
    'printed more than 65536 bytes',
  )
})

test('I8 a command without output is refused', async () => {
  await expect(resolveReference('cmd:true', 'x', { env })).rejects.toThrow(
    'the output of the command is empty',
  )
})

test('I8 the 1Password CLI reads op:// without a shell', async () => {
  const { home } = tempHome({
    op: '#!/bin/sh\n[ "$1 $2" = "read --no-newline" ] && printf "got %s" "$3"\n',
  })
  chmodSync(join(home, 'op'), 0o755)
  const options = { env: { PATH: `${home}:/usr/bin:/bin` } }
  const reference = 'op://AI/WORKSYNC_API_KEY/$(touch oops)'
  expect(await resolveReference(reference, 'x', options)).toBe(`got ${reference}`)
})

test('I8 an error of the 1Password CLI contains the next step', async () => {
  const { home } = tempHome({ 'bin/op': '#!/bin/sh\necho hunter22\nexit 6\n' })
  chmodSync(join(home, 'bin/op'), 0o755)
  await expect(resolveReference('op://a/b/c', 'x', { env: { PATH: home } })).rejects.toThrow(
    '`op` is not installed',
  )
  const failed = resolveReference('op://a/b/c', 'x', { env: { PATH: `${home}/bin:/usr/bin:/bin` } })
  await expect(failed).rejects.toMatchObject({
    message: 'Cannot resolve x: `op read op://a/b/c` failed with exit code 6.',
    hint: expect.stringContaining('op signin'),
  })
})
