import fc from 'fast-check'
import { expect, test } from 'vitest'
import { editableJson, sanitizeLines } from './output.ts'

const deceiving = /[\p{Cc}\p{Bidi_Control}\u200b\u2028\u2029]/u

test('A13 keeps line breaks and removes all other control characters', () => {
  expect(sanitizeLines('a\r\n\tb\u0007\n')).toEqual(['a', '    bU+0007', ''])
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      for (const line of sanitizeLines(text)) expect(line).not.toMatch(deceiving)
    }),
  )
})

test('A13, B3 editable JSON shows hidden characters and keeps the value', () => {
  expect(editableJson({ file: 'a\u202eb' })).toBe('{\n  "file": "a\\u202eb"\n}')
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      const text = editableJson(value)
      expect(text.replaceAll('\n', '')).not.toMatch(deceiving)
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})
