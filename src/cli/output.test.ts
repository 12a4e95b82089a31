import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CoworkError } from '#base/errors.ts'
import { createOutput, formatFields, sanitizeForTerminal, formatTable, wrapText } from './output.ts'

function capture({ json = false, isTTY = false, command = 'cowork' } = {}) {
  const stdout = Object.assign(new PassThrough(), { isTTY })
  const stderr = Object.assign(new PassThrough(), { isTTY })
  const readText = (stream: PassThrough) => String(stream.read() ?? '')
  const out = createOutput({ json, stdout, stderr, command })
  return { out, read: () => ({ stdout: readText(stdout), stderr: readText(stderr) }) }
}

test('K2 stdout is data, stderr the rest', () => {
  const { out, read } = capture()
  out.data({ a: 1 }, () => ['one', 'two'])
  out.note('by the way')
  expect(read()).toEqual({ stdout: 'one\ntwo\n', stderr: 'by the way\n' })
})

test('K2 --json prints only one object with its schema version', () => {
  const { out, read } = capture({ json: true, isTTY: true })
  out.data({ a: 1 }, () => ['one'])
  out.note('by the way')
  out.progress('50 %')
  expect(read()).toEqual({ stdout: '{"schemaVersion":1,"a":1}\n', stderr: '' })
})

test('K2 RS10 --json contains no terminal control characters and parses to the same value', () => {
  const text = 'a\u009b31mb\u202ec\u007fd\u200b'
  const { out, read } = capture({ json: true, isTTY: true })
  out.data({ text }, () => [])
  out.content({ text }, '')
  out.problem(new CoworkError('failed', text))
  const { stdout, stderr } = read()
  expect(stdout + stderr).toMatch(/^[\x20-\x7e\n]*$/)
  for (const line of stdout.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ text })
  expect(JSON.parse(stderr)).toMatchObject({ error: { message: text } })
})

test('K2 an error goes to stderr with its hint, as JSON with --json', () => {
  const error = new CoworkError('not_found', 'Not found: x.', { hint: 'Try y.' })
  const plain = capture()
  plain.out.problem(error)
  expect(plain.read()).toEqual({ stdout: '', stderr: 'cowork: Not found: x.\nTry y.\n' })
  const json = capture({ json: true })
  json.out.problem(error)
  const { stdout, stderr } = json.read()
  expect(stdout).toBe('')
  expect(JSON.parse(stderr)).toEqual({
    schemaVersion: 1,
    error: { code: 'not_found', message: 'Not found: x.', hint: 'Try y.' },
  })
})

test('K3 a hint shows the command as it is called here, except in JSON', () => {
  const hint = 'Run `cowork up -d`.'
  const error = new CoworkError('daemon_not_running', 'The daemon is not running.', { hint })
  const { out, read } = capture({ command: 'npx cowork' })
  out.note('Run `cowork restart`.')
  out.problem(error)
  expect(read().stderr).toBe(
    'Run `npx cowork restart`.\ncowork: The daemon is not running.\nRun `npx cowork up -d`.\n',
  )
  const json = capture({ json: true, command: 'npx cowork' })
  json.out.problem(error)
  expect(JSON.parse(json.read().stderr)).toMatchObject({ error: { hint } })
})

test('K2 progress is shown only on a terminal', () => {
  const terminal = capture({ isTTY: true })
  terminal.out.progress('50 %')
  terminal.out.note('done')
  expect(terminal.read().stderr).toBe('\r\u001b[K50 %\r\u001b[Kdone\n')
  const file = capture()
  file.out.progress('50 %')
  expect(file.read()).toEqual({ stdout: '', stderr: '' })
})

test('K2 uses no color without a terminal', () => {
  expect(capture().out.style('red', 'BROKEN')).toBe('BROKEN')
})

test('K2 aligns the columns of a table', () => {
  expect(
    formatTable(
      ['ID', 'STATE'],
      [
        ['a', 'on'],
        ['longer', undefined],
        ['ü', 'off'],
      ],
    ),
  ).toEqual(['ID      STATE', 'a       on', 'longer', 'ü       off'])
})

test('K2 aligns fields and leaves out undefined ones', () => {
  expect(formatFields({ id: 'x', token: 'y', hash: undefined })).toEqual(['id:    x', 'token: y'])
})

test('K2 no untrusted text reaches the terminal as a control sequence', () => {
  const hostile = '\u001b[2J\u001b]0;title\u0007 a\r\nb \u202Etxt\u2028 \u009b31m'
  const control = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u
  expect(sanitizeForTerminal(hostile)).not.toMatch(control)
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const rows = [...formatTable(['A', 'B'], [[text, text]]), ...formatFields({ a: text })]
      return rows.every((row) => !control.test(row))
    }),
  )
})

test('K3 wraps text between words, never inside a command', () => {
  expect(wrapText('one two three', 7)).toEqual(['one two', 'three'])
  expect(wrapText('run (`cowork up -d`), then look', 12)).toEqual([
    'run',
    '(`cowork up -d`),',
    'then look',
  ])
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { minLength: 1 }), (words) => {
      const lines = wrapText(words.join(' '), 12)
      expect(lines.join(' ')).toBe(words.join(' '))
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(12)
    }),
  )
})
