import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLineSplitter, readEnvelope } from './message-line.ts'

const bytes = (value: unknown) => Buffer.from(`${JSON.stringify(value)}\n`)

/** Splits a buffer at the given offsets. */
function splitAt(buffer: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [0, ...cuts.map((cut) => cut % (buffer.length + 1)), buffer.length].toSorted(
    (a, b) => a - b,
  )
  return at.slice(1).map((end, index) => buffer.subarray(at[index], end))
}

test('SV4 the splitter returns the same lines for any chunks', () => {
  const line = fc
    .oneof(fc.string({ unit: 'binary' }), fc.json())
    .map((text) => text.replaceAll('\n', ''))
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat()), line, (complete, cuts, rest) => {
      const sent = Buffer.from(complete.map((text) => `${text}\n`).join('') + rest)
      const lines: Buffer[] = []
      const split = createLineSplitter((line) => lines.push(Buffer.from(line)), {
        maxBytes: Infinity,
        onTooLong: () => expect.fail(),
      })
      for (const chunk of splitAt(sent, cuts)) split(chunk)
      expect(lines.map(String)).toEqual(complete.map((text) => `${text}\n`))
    }),
  )
})

test('SV4 SV25 drops only a line that is too long', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(12)), fc.array(fc.nat()), (sizes, cuts) => {
      const sent = sizes.map((size) => `${'x'.repeat(size)}\n`)
      const received: string[] = []
      const split = createLineSplitter((line) => received.push(line.toString()), {
        maxBytes: 8,
        onTooLong: () => received.push('too long'),
      })
      for (const chunk of splitAt(Buffer.from(sent.join('')), cuts)) split(chunk)
      expect(received).toEqual(sent.map((line) => (line.length > 8 ? 'too long' : line)))
    }),
  )
})

const id = fc.oneof(fc.integer(), fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }))
const method = fc.constantFrom('tools/call', 'ping', 'notifications/"odd"\\')
/** Members in any order, with the same names in nested values. */
const message = fc
  .record(
    {
      jsonrpc: fc.constant('2.0'),
      id,
      method,
      params: fc.oneof(fc.jsonValue(), fc.record({ id, method, result: fc.jsonValue() })),
    },
    { requiredKeys: [] },
  )
  .chain((members) =>
    fc
      .shuffledSubarray(Object.entries(members), { minLength: Object.keys(members).length })
      .map((entries) => Object.fromEntries(entries) as Partial<typeof members>),
  )

test('RA4 the envelope of a request matches its JSON', () => {
  fc.assert(
    fc.property(message, fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
      const line = Buffer.from(JSON.stringify(value, null, indent).replaceAll('\n', ' '))
      const { id: expectedId, method: expectedMethod } = JSON.parse(line.toString()) as typeof value
      expect(readEnvelope(line)).toEqual({
        ...(expectedId !== undefined && { id: expectedId }),
        ...(expectedMethod !== undefined && { method: expectedMethod }),
      })
    }),
  )
})

test('RA4 the envelope of a response names its kind', () => {
  expect(readEnvelope(bytes({ result: { id: 9 }, jsonrpc: '2.0', id: 'a' }))).toEqual({
    id: 'a',
    response: 'result',
  })
  expect(readEnvelope(bytes({ jsonrpc: '2.0', id: 0, error: { message: 'no' } }))).toEqual({
    id: 0,
    response: 'error',
  })
  expect(readEnvelope(bytes({ jsonrpc: '2.0', id: null, error: {} }))).toEqual({
    response: 'error',
  })
})

test('RA4 a line that is not a message has no envelope, and no line throws', () => {
  for (const line of ['', '\n', 'null\n', '[{"id":1}]\n', '"id"\n', '{\n', '{"id\n', '{"id":\n'])
    expect(readEnvelope(Buffer.from(line))).toEqual({})
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), fc.nat(), (text, cut) => {
      readEnvelope(Buffer.from(text.slice(0, cut)))
    }),
  )
})
