import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { maxTextBytes } from '../src/cli/work/requests.ts'
import { ended, newPlace } from './cli.ts'

type Shown = {
  readonly item: { readonly rev: number; readonly text?: string; readonly text_sha256: string }
}

describe('the text of a backlog item in the CLI', () => {
  const place = newPlace()
  const work = (...args: string[]) => place.cowork(['work', ...args])
  const piped = (input: string, ...args: string[]) => place.cowork(['work', ...args], {}, input)
  const textPath = join(place.state, '.worksync', 'projects', 'shop', 'BACKLOG', 'more.md')
  /** Writes a file, named relative to the working directory. */
  const write = (name: string, content: string | Buffer) =>
    writeFileSync(join(place.state, name), content)
  const show = async (id = 'more') => {
    const { code, stdout, stderr } = await work('show', id, '--json')
    expect(code, stderr).toBe(0)
    return (JSON.parse(stdout) as Shown).item
  }

  beforeAll(async () => {
    await place.cowork(['up', '-d'])
    await work('register', 'shop')
    await work('sprint', 'auth')
  })
  afterAll(() => place.end())

  test('W25 K1 can be set by add and set, from a file or stdin, and found by search', async () => {
    const long = `# At length\n\n${'Many words, 漢字 😀, "quoted".\n'.repeat(1500)}`
    write('notes.md', long)
    const added = await work('add', 'Write more', '--id', 'more', '--text-file', 'notes.md')
    expect(added, added.stderr).toMatchObject({ code: 0 })
    expect(await show()).toMatchObject({ text: long })
    await expect.poll(() => existsSync(textPath) && readFileSync(textPath, 'utf8')).toBe(long)

    const set = await piped('By a pipe\r\n', 'set', 'more', '--text-file', '-', '--theme', 'docs')
    expect(set, set.stderr).toMatchObject({ code: 0, stdout: 'Updated more (revision 2).\n' })
    expect(await show()).toMatchObject({ text: 'By a pipe\r\n', theme: 'docs' })
    expect((await work('search', 'PIPE', 'docs')).stdout).toContain('Write more')
    expect(readFileSync(join(place.state, 'notes.md'), 'utf8')).toBe(long)

    const other = await piped('x', 'add', 'From stdin', '--text-file', '-')
    expect(other, other.stderr).toMatchObject({ code: 0 })
    expect(await show('from-stdin')).toMatchObject({ text: 'x' })
    expect(await work('set', 'from-stdin', '--clear', 'text')).toMatchObject({ code: 0 })
    expect(await show('from-stdin')).not.toHaveProperty('text')
  })

  test('W25 K3 invalid input, or a text for another kind of item, changes nothing', async () => {
    write('empty.md', '')
    write('latin.md', Buffer.from('M\xfcde', 'latin1'))
    write('large.md', 'x'.repeat(maxTextBytes + 1))
    const before = await show()
    const refusals: [name: string, code: number, message: string][] = [
      ['empty.md', 2, 'Empty input: empty.md.'],
      // stdin is empty.
      ['-', 2, 'Empty input: stdin.'],
      ['latin.md', 2, 'Not valid UTF-8'],
      ['large.md', 1, 'more than 256000 bytes'],
      ['none.md', 2, 'Cannot read none.md: ENOENT'],
      ['.', 2, 'EISDIR'],
    ]
    for (const [name, code, message] of refusals) {
      const refused = await work('set', 'more', '--text-file', name, '--theme', 'other')
      expect(refused, name).toMatchObject({ code, stdout: '' })
      expect(refused.stderr).toContain(message)
    }
    expect(await work('add', 'Never there', '--text-file', 'empty.md')).toMatchObject({ code: 2 })
    expect((await work('search', 'Never there')).stdout).toBe('No items.\n')
    expect(await show()).toEqual(before)

    expect(await work('set', 'auth', '--text-file', 'notes.md')).toMatchObject({ code: 2 })
    await work('add', 'Begun')
    expect((await work('move', 'begun', 'auth')).stdout).toContain('STORY-1')
    const elsewhere = await work('set', 'STORY-1', '--text-file', 'notes.md')
    expect(elsewhere).toMatchObject({ code: 2 })
    expect(elsewhere.stderr).toContain('cowork work set begun --text-file')
  })

  test('W25 K3 is not overwritten if it changed since the read, and the error says so', async () => {
    write('notes.md', 'By the person')
    const { text_sha256: before } = await show()
    await expect.poll(() => readFileSync(textPath, 'utf8')).toBe('By a pipe\r\n')
    writeFileSync(textPath, 'By hand')
    const refused = await work('set', 'more', '--text-file', 'notes.md', '--if-text', before)
    expect(refused).toMatchObject({ code: 7, stdout: '' })
    expect(refused.stderr).toContain('The text of more has changed.')
    expect(refused.stderr).toContain('`cowork work show more`')
    expect(refused.stderr).not.toContain('worksync_')
    expect(readFileSync(join(place.state, 'notes.md'), 'utf8')).toBe('By the person')

    // The current text is read before stdin, which can take long.
    const readings = async () => {
      const { stdout } = await place.cowork(['audit', 'tail', '-n', '1000', '--json'])
      return stdout.split('\n').filter((line) => /worksync_get.*shop\/more/.test(line)).length
    }
    // Reads are recorded shortly after their reply.
    let known = -1
    await expect
      .poll(async () => known === (known = await readings()), { interval: 500 })
      .toBe(true)
    const child = place.start(['work', 'set', 'more', '--text-file', '-'])
    const over = ended(child)
    child.stdin.write('By the ')
    // One lookup as a story, one as a backlog item.
    await expect.poll(readings, { timeout: 20_000 }).toBeGreaterThanOrEqual(known + 2)
    writeFileSync(textPath, 'By hand again')
    child.stdin.end('person')
    expect(await over).toMatchObject({ code: 7, stdout: '' })
    expect(readFileSync(textPath, 'utf8')).toBe('By hand again')

    const { text_sha256: now } = await show()
    const set = await work('set', 'more', '--text-file', 'notes.md', '--if-text', now)
    expect(set, set.stderr).toMatchObject({ code: 0 })
    await expect.poll(() => readFileSync(textPath, 'utf8')).toBe('By the person')
  })
})
