import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkJsonSize, findJsonExcess, maxJsonDepth, maxJsonValues } from './json-size.ts'

const toBytes = (value: unknown) => Buffer.from(JSON.stringify(value))
const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) })

test('RS4 findJsonExcess counts values and levels up to their limits', () => {
  const list = (length: number) => toBytes(Array.from({ length }, () => 1))
  expect(findJsonExcess(list(maxJsonValues))).toBeUndefined()
  expect(findJsonExcess(list(maxJsonValues + 1))).toBe('values')
  expect(findJsonExcess(toBytes(deep(maxJsonDepth)))).toBeUndefined()
  expect(findJsonExcess(toBytes(deep(maxJsonDepth + 1)))).toBe('depth')
  expect(() => checkJsonSize(list(5000))).toThrow('more than 4096 values')
})

test('RS4 string content is not counted', () => {
  const text = fc.string({ unit: fc.constantFrom('"', '\\', ',', '[', '{', ':', 'é', 'x') })
  fc.assert(
    fc.property(fc.array(text), text, (texts, name) => {
      const bytes = toBytes({ [name]: texts.join('').repeat(100), texts })
      expect(findJsonExcess(bytes)).toBeUndefined()
    }),
  )
  expect(findJsonExcess(toBytes(',[{'.repeat(10_000)))).toBeUndefined()
})

test('RS4 counting terminates for invalid JSON', () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => void findJsonExcess(bytes)))
  expect(findJsonExcess(Buffer.from('"'))).toBeUndefined()
  expect(findJsonExcess(Buffer.from('"\\'))).toBeUndefined()
  expect(findJsonExcess(Buffer.from(']]]]'))).toBeUndefined()
})
