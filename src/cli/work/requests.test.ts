import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergeParts, findOwningProject } from './requests.ts'

test('K2 the repository of the current folder selects the project, the innermost one first', () => {
  const projects = [
    { project: 'outer', repo: '/src/outer' },
    { project: 'inner', repo: '/src/outer/parts/inner' },
    { project: 'homeless' },
  ]
  expect(findOwningProject('/src/outer', projects)).toBe('outer')
  expect(findOwningProject('/src/outer/docs', projects)).toBe('outer')
  expect(findOwningProject('/src/outer/parts/inner/a', projects)).toBe('inner')
  expect(findOwningProject('/src/outer-two', projects)).toBeUndefined()
  expect(findOwningProject('/src', projects)).toBeUndefined()
})

test('W23 the parts of an item merge: long texts and lists continue, other fields stay', () => {
  const long = fc.string({ minLength: 600, maxLength: 900 })
  fc.assert(
    fc.property(
      fc.array(long, { minLength: 1, maxLength: 4 }),
      fc.uniqueArray(fc.nat(), { minLength: 1, maxLength: 8 }),
      (texts, numbers) => {
        const id = { id: 'STORY-1', rev: 3, paths: ['a'], title: 'A title' }
        const parts = [
          ...texts.map((notes) => ({ ...id, notes })),
          ...numbers.map((one) => ({ ...id, list: [one] })),
        ]
        expect(mergeParts<object>(parts)).toEqual({ ...id, notes: texts.join(''), list: numbers })
      },
    ),
  )
})
