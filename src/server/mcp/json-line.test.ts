import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeJsonLine } from './json-line.ts'

const answerOf = (text: string, more: readonly object[] = []) => ({
  jsonrpc: '2.0',
  id: 1,
  result: { content: [{ type: 'text', text }, ...more], structuredContent: { path: '/a' } },
})

test('N4 a long text is sent in chunks that form one line and decode to the same text', () => {
  const unit = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(unit, fc.nat(40), fc.boolean(), (text, shift, isFollowed) => {
      // Each character is at the edge of a chunk once.
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

test('N4 any other message is one chunk', () => {
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

test('F4 SV12 a result too large for the client becomes an error, and the connection stays', () => {
  const maxBytes = 10 * 1024 * 1024
  const blob = (length: number) => [{ type: 'image', data: 'x'.repeat(length) }]
  const tooLong = [
    answerOf('x'.repeat(maxBytes)),
    // Each character takes six bytes when escaped.
    answerOf('\u0001'.repeat(maxBytes / 5)),
    answerOf('\u4e00'.repeat(maxBytes / 3)),
    answerOf('short', blob(maxBytes)),
    { jsonrpc: '2.0', id: 1, result: { content: blob(maxBytes) } },
  ]
  for (const message of tooLong) {
    const { id, result } = JSON.parse([...encodeJsonLine(message)].join('')) as {
      id: number
      result: { isError: boolean; structuredContent: object }
    }
    expect({ id, isError: result.isError }).toEqual({ id: 1, isError: true })
    expect(result.structuredContent).toMatchObject({ code: 'too_large' })
  }
  const read = { jsonrpc: '2.0', id: 'a', result: { contents: [{ text: 'x'.repeat(maxBytes) }] } }
  expect(JSON.parse([...encodeJsonLine(read)].join(''))).toMatchObject({
    id: 'a',
    error: { code: -32000 },
  })
  // Client requests and short lines are unchanged.
  const sent = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { x: 'x'.repeat(maxBytes) } }
  for (const message of [sent, answerOf('x'.repeat(9_000_000)), answerOf('', blob(9_500_000))])
    expect(JSON.parse([...encodeJsonLine(message)].join(''))).toEqual(message)
})
