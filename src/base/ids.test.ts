import fc from 'fast-check'
import { expect, test } from 'vitest'
import { randomHex } from './ids.ts'

test('L8 a salt is as long as asked for and never comes twice', () => {
  const drawn = new Set<string>()
  fc.assert(
    fc.property(fc.constantFrom(16, 24, 4096, 5000), (bytes) => {
      const text = randomHex(bytes)
      expect(text).toMatch(/^[0-9a-f]+$/)
      expect(text).toHaveLength(2 * bytes)
      expect(drawn).not.toContain(text)
      drawn.add(text)
    }),
    { numRuns: 500 },
  )
})
