import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeJsonLine } from './json-line.ts'

const answerOf = (text: string, more: readonly object[] = []) => ({
  jsonrpc: '2.0',
  id: 1,
  result: { content: [{ type: 'text', text }, ...more], structuredContent: { path: '/a' } },
})

test('N4 a long text goes out in pieces that are one line and read as what it was', () => {
  const unit = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(unit, fc.nat(40), fc.boolean(), (text, shift, isFollowed) => {
      // Whatever it is, in turn each character of it lies at the edge of a piece.
      const long = 'x'.repeat(shift) + text.repeat(Math.ceil(200_000 / text.length))
      const message = answerOf(long, isFollowed ? [{ type: 'text', text: '[more]' }] : [])
      const pieces = [...encodeJsonLine(message)]
      const line = pieces.join('')
      expect(pieces.length).toBeGreaterThan(2)
      expect(line.indexOf('\n')).toBe(line.length - 1)
      expect(JSON.parse(line)).toEqual(message)
    }),
    { numRuns: 40 },
  )
})

test('N4 any other message is one piece', () => {
  const messages = [
    answerOf('short'),
    { jsonrpc: '2.0', id: 1, error: { code: -32600, message: 'x'.repeat(300_000) } },
    { jsonrpc: '2.0', id: 1, result: { content: { type: 'text', text: 'x'.repeat(300_000) } } },
    { jsonrpc: '2.0', id: 1, result: { content: [null] } },
    { jsonrpc: '2.0', method: 'notifications/message' },
  ]
  for (const message of messages)
    expect([...encodeJsonLine(message)]).toEqual([JSON.stringify(message) + '\n'])
})

test('F4 SV12 an answer that the client would hang up on is refused instead, and the connection stays', () => {
  const most = 10 * 1024 * 1024
  const blob = (length: number) => [{ type: 'image', data: 'x'.repeat(length) }]
  const tooLong = [
    answerOf('x'.repeat(most)),
    // Each letter takes six when it is spelt.
    answerOf('\u0001'.repeat(most / 5)),
    answerOf('\u4e00'.repeat(most / 3)),
    answerOf('short', blob(most)),
    { jsonrpc: '2.0', id: 1, result: { content: blob(most) } },
  ]
  for (const message of tooLong) {
    const { id, result } = JSON.parse([...encodeJsonLine(message)].join('')) as {
      id: number
      result: { isError: boolean; structuredContent: object }
    }
    expect({ id, isError: result.isError }).toEqual({ id: 1, isError: true })
    expect(result.structuredContent).toMatchObject({ code: 'too_large' })
  }
  const read = { jsonrpc: '2.0', id: 'a', result: { contents: [{ text: 'x'.repeat(most) }] } }
  expect(JSON.parse([...encodeJsonLine(read)].join(''))).toMatchObject({
    id: 'a',
    error: { code: -32000 },
  })
  // What a client sends is its own affair, and so is what fits.
  const sent = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { x: 'x'.repeat(most) } }
  for (const message of [sent, answerOf('x'.repeat(9_000_000)), answerOf('', blob(9_500_000))])
    expect(JSON.parse([...encodeJsonLine(message)].join(''))).toEqual(message)
})
