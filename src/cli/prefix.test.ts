import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newId } from '#base/ids.ts'
import { toExitCode } from './exit.ts'
import { resolvePrefix } from './lookup.ts'

const refusalOf = (given: string, ids: string[]) => {
  try {
    return resolvePrefix(given, ids, 'agent')
  } catch (error) {
    return toExitCode(error)
  }
}

test('K2 an id may be shortened while it stays the only one', () => {
  expect(resolvePrefix('su', ['sales', 'support'], 'agent')).toBe('support')
  expect(refusalOf('s', ['sales', 'support'])).toBe(2)
  expect(refusalOf('x', ['sales', 'support'])).toBe(3)
  expect(refusalOf('', ['sales'])).toBe(3)
})

test('K2 an id in full is itself, even where others begin with it', () => {
  expect(resolvePrefix('sales', ['sales-eu', 'sales', 'sales-us'], 'agent')).toBe('sales')
})

test('K2 what is found begins as it was given, and nothing else does', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ maxLength: 4 })),
      fc.string({ maxLength: 4 }),
      (ids, given) => {
        const fitting = ids.filter((id) => given !== '' && id.startsWith(given))
        const only = fitting.length === 1 ? fitting[0] : undefined
        const expected = ids.includes(given) ? given : (only ?? (fitting.length === 0 ? 3 : 2))
        expect(refusalOf(given, ids)).toBe(expected)
      },
    ),
  )
})

const hintOf = (given: string, ids: string[], told?: (id: string) => string) => {
  try {
    return resolvePrefix(given, ids, 'agent', told && { told })
  } catch (error) {
    return (error as { hint?: string }).hint
  }
}

test('K2, K3 what there is instead fits a line: names as they are, ids as far as needed', () => {
  expect(hintOf('x', ['sales-eu', 'sales-us'])).toBe('There is: sales-eu, sales-us.')
  const ids = ['01a1e26c-52f0-723d-848c-c3a6d85a56f8', '01a1e26c-5307-7250-8655-6d5d017d7117']
  expect(hintOf('01', ids)).toBe('Write more of it: 01a1e26c-52, 01a1e26c-53.')
  const many = hintOf('x', Array.from({ length: 12 }, newId)) ?? ''
  expect(many).toMatch(/,\sand\s2\smore\.$/)
  expect(many.split('\n').filter((line) => line.length > 80)).toEqual([])
})

test('K3 who finds none is told how one is made, and an empty name is called so', () => {
  const refused = (given: string, ids: string[]) => {
    try {
      return resolvePrefix(given, ids, 'agent', { made: '`cowork agents add <id>` adds one.' })
    } catch (error) {
      const { message, hint } = error as { message: string; hint?: string }
      return [message, hint]
    }
  }
  const adds = '`cowork agents add <id>` adds one.'
  expect(refused('x', [])).toEqual(['There is no agent named x.', `There is none.\n${adds}`])
  expect(refused('x', ['a'])).toEqual(['There is no agent named x.', `There is: a.\n${adds}`])
  expect(refused('', [])).toEqual(['The name of the agent is empty.', `There is none.\n${adds}`])
  expect(hintOf('x', [])).toBe('There is none.')
})

test('K2, K3 where ids alone say nothing, each stands with what it is', () => {
  const ids = Array.from({ length: 12 }, (_, at) => `a${at}`)
  expect(hintOf('x', ['a', 'b'], (id) => `/home/${id}`)).toBe(
    'There is:\n  a  /home/a\n  b  /home/b',
  )
  expect(hintOf('a', ids, (id) => `/${id}`)).toMatch(/^Write more of it:\n {2}a0 {2}\/a0\n/)
  expect(hintOf('x', ids, (id) => `/${id}`)).toMatch(/\n {2}and 2 more$/)
})
