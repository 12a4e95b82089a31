import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkJsonSize, findJsonExcess, maxJsonDepth, maxJsonValues } from './json-size.ts'

const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value))
const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) })

test('RS4 values and levels are counted up to their limits', () => {
  const list = (length: number) => bytesOf(Array.from({ length }, () => 1))
  expect(findJsonExcess(list(maxJsonValues))).toBeUndefined()
  expect(findJsonExcess(list(maxJsonValues + 1))).toBe('values')
  expect(findJsonExcess(bytesOf(deep(maxJsonDepth)))).toBeUndefined()
  expect(findJsonExcess(bytesOf(deep(maxJsonDepth + 1)))).toBe('depth')
  expect(() => checkJsonSize(list(5000))).toThrow('more than 4096 values')
})

test('RS4 what stands in strings is not counted, whatever they hold', () => {
  const text = fc.string({ unit: fc.constantFrom('"', '\\', ',', '[', '{', ':', 'é', 'x') })
  fc.assert(
    fc.property(fc.array(text), text, (texts, name) => {
      const bytes = bytesOf({ [name]: texts.join('').repeat(100), texts })
      expect(findJsonExcess(bytes)).toBeUndefined()
    }),
  )
  expect(findJsonExcess(bytesOf(',[{'.repeat(10_000)))).toBeUndefined()
})

test('RS4 texts that are no JSON end the count, too', () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => void findJsonExcess(bytes)))
  expect(findJsonExcess(Buffer.from('"'))).toBeUndefined()
  expect(findJsonExcess(Buffer.from('"\\'))).toBeUndefined()
  expect(findJsonExcess(Buffer.from(']]]]'))).toBeUndefined()
})
