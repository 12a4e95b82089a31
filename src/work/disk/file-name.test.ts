import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { toFileName, parseFileName } from './file-name.ts'

const ids = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }),
  fc.string({ unit: fc.constantFrom('.', '/', '\\', '%', '~', ' ', 'a', '2', 'e', 'é', '\n') }),
)

test('W25 ids from tools are unchanged as file names', () => {
  for (const id of ['later', 'pin-actions-2', 'STORY-7', 'x'.repeat(100)])
    expect(toFileName(id)).toBe(id)
})

test('W25 no file name of an id leaves its folder, is hidden or is too long', () => {
  fc.assert(
    fc.property(
      ids.filter((id) => id !== ''),
      (id) => {
        const name = toFileName(id)
        expect(name).toMatch(/^[^./\\\0 ](?:[^/\\\0]*[^./\\\0 ])?$/)
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(120)
      },
    ),
  )
})

test('W25 different ids have different names, and a name that is not shortened decodes to its id', () => {
  fc.assert(
    fc.property(ids, ids, (a, b) => {
      if (a !== b) expect(toFileName(a)).not.toBe(toFileName(b))
      const name = toFileName(a)
      if (!name.includes('~')) expect(parseFileName(name)).toBe(a)
    }),
  )
  expect(parseFileName('%zz')).toBe('%zz')
})

test.each(['CLAUDE', 'agents', 'Gemini', 'autostart', 'copilot-instructions', '.cursorrules'])(
  'RS9 the id %s does not become the name of an instruction file',
  (id) => {
    const name = toFileName(id)
    expect(name).toMatch(/^%/)
    expect(parseFileName(name)).toBe(id)
  },
)
