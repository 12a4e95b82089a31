import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CoworkError } from '#base/errors.ts'
import { parseEnvFile, readEnvFiles } from './env-file.ts'
import { captureError, tempHome } from '../../../test/base/config/config.fixture.ts'

test('I8 an env file has names and values with comments, quotes and export', () => {
  const text = `# secrets
export A=one
B = two words   # and a note
C='single # kept "as is" \\n'
D="line\\nbreak and \\"quotes\\""   # note
E=
F=op://AI/KEY/credential
G=#only a note
H=a#b
`
  expect(parseEnvFile('.env', text)).toEqual({
    A: 'one',
    B: 'two words',
    C: 'single # kept "as is" \\n',
    D: 'line\nbreak and "quotes"',
    E: '',
    F: 'op://AI/KEY/credential',
    G: '',
    H: 'a#b',
  })
})

test('I8 a later env file overrides an earlier one', () => {
  const { home } = tempHome({ '.env': 'A=1\nB=1\r\n', '.env.secret': 'B=2\n' })
  expect(readEnvFiles([join(home, '.env'), join(home, '.env.secret')])).toEqual({ A: '1', B: '2' })
  expect(captureError(() => readEnvFiles([join(home, 'none')]))).toMatchObject({
    code: 'env_file_unreadable',
  })
})

test.each(['just words', '1A=x', 'A B=x', 'A="open', "A='open", 'A="x" y'])(
  'I8 the line %s is refused by number without its content',
  (line) => {
    const error = captureError(() => parseEnvFile('.env', `OK=1\n${line}\n`))
    expect(error.code).toBe('env_file_invalid')
    expect(error.message).toMatch(/^\.env:2: expected NAME=value/)
    expect(error.message).not.toContain(line)
  },
)

test('I8 any env file gives strings or is refused', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      try {
        for (const value of Object.values(parseEnvFile('x', text)))
          expect(value).toBeTypeOf('string')
      } catch (error) {
        expect(error).toBeInstanceOf(CoworkError)
      }
    }),
  )
})

test('I8 any value survives single quotes', () => {
  fc.assert(
    fc.property(
      fc.string().filter((text) => !/['\r\n]/.test(text)),
      (value) => {
        expect(parseEnvFile('x', `A='${value}'`)).toEqual({ A: value })
      },
    ),
  )
})
