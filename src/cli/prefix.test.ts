import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newId } from '#base/ids.ts'
import { toExitCode } from './exit.ts'
import { resolvePrefix } from './lookup.ts'

const resolveOrExitCode = (given: string, ids: string[]) => {
  try {
    return resolvePrefix(given, ids, 'agent')
  } catch (error) {
    return toExitCode(error)
  }
}

test('K2 an id can be shortened to a unique prefix', () => {
  expect(resolvePrefix('su', ['sales', 'support'], 'agent')).toBe('support')
  expect(resolveOrExitCode('s', ['sales', 'support'])).toBe(2)
  expect(resolveOrExitCode('x', ['sales', 'support'])).toBe(3)
  expect(resolveOrExitCode('', ['sales'])).toBe(3)
})

test('K2 a full id matches itself, even if it is a prefix of others', () => {
  expect(resolvePrefix('sales', ['sales-eu', 'sales', 'sales-us'], 'agent')).toBe('sales')
})

test('K2 a match is the only id with the prefix', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ maxLength: 4 })),
      fc.string({ maxLength: 4 }),
      (ids, given) => {
        const matches = ids.filter((id) => given !== '' && id.startsWith(given))
        const only = matches.length === 1 ? matches[0] : undefined
        const expected = ids.includes(given) ? given : (only ?? (matches.length === 0 ? 3 : 2))
        expect(resolveOrExitCode(given, ids)).toBe(expected)
      },
    ),
  )
})

const readHint = (given: string, ids: string[], describe?: (id: string) => string) => {
  try {
    return resolvePrefix(given, ids, 'agent', describe && { describe })
  } catch (error) {
    return (error as { hint?: string }).hint
  }
}

test('K2, K3 lists the available names and shortened ids in lines that fit', () => {
  expect(readHint('x', ['sales-eu', 'sales-us'])).toBe('Available: sales-eu, sales-us.')
  const ids = ['01a1e26c-52f0-723d-848c-c3a6d85a56f8', '01a1e26c-5307-7250-8655-6d5d017d7117']
  expect(readHint('01', ids)).toBe('Type more characters: 01a1e26c-52, 01a1e26c-53.')
  const many = readHint('x', Array.from({ length: 12 }, newId)) ?? ''
  expect(many).toMatch(/,\sand\s2\smore\.$/)
  expect(many.split('\n').filter((line) => line.length > 80)).toEqual([])
})

test('K3 the hint says how to create an item, and an empty name is an error', () => {
  const refused = (given: string, ids: string[]) => {
    try {
      return resolvePrefix(given, ids, 'agent', {
        createHint: 'Run `cowork agents add <id>`.',
      })
    } catch (error) {
      const { message, hint } = error as { message: string; hint?: string }
      return [message, hint]
    }
  }
  const adds = 'Run `cowork agents add <id>`.'
  expect(refused('x', [])).toEqual(['Unknown agent: x.', `None exist.\n${adds}`])
  expect(refused('x', ['a'])).toEqual(['Unknown agent: x.', `Available: a.\n${adds}`])
  expect(refused('', [])).toEqual(['Empty name of agent.', `None exist.\n${adds}`])
  expect(readHint('x', [])).toBe('None exist.')
})

test('K2, K3 lists ids with a description if they have no meaning', () => {
  const ids = Array.from({ length: 12 }, (_, at) => `a${at}`)
  expect(readHint('x', ['a', 'b'], (id) => `/home/${id}`)).toBe(
    'Available:\n  a  /home/a\n  b  /home/b',
  )
  expect(readHint('a', ids, (id) => `/${id}`)).toMatch(/^Type more characters:\n {2}a0 {2}\/a0\n/)
  expect(readHint('x', ids, (id) => `/${id}`)).toMatch(/\n {2}and 2 more$/)
})
