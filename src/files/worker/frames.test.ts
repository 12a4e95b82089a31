import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFrameReader, encodeFrame } from './frames.ts'
import type { Frame } from './frames.ts'

const limits = { head: 10_000, body: 10_000 }
const bytes = (head: unknown, body?: Uint8Array) => Buffer.concat(encodeFrame(head, body))

function readAll(chunks: readonly Buffer[]): Frame[] {
  const frames: Frame[] = []
  const read = createFrameReader(limits, (frame) => frames.push(frame))
  for (const chunk of chunks) read(chunk)
  return frames
}

test('PV6 decodes frames regardless of chunk boundaries', () => {
  const frame = fc.record({
    head: fc.jsonValue(),
    body: fc.uint8Array({ maxLength: 300 }),
  })
  const cuts = fc.array(fc.nat(3000), { maxLength: 60 })
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 8 }), cuts, (frames, cutPoints) => {
      const sent = Buffer.concat(frames.map(({ head, body }) => bytes(head, body)))
      const ends = [...cutPoints.map((point) => Math.min(point, sent.length)), sent.length]
      let from = 0
      const chunks = ends
        .toSorted((left, right) => left - right)
        .map((to) => sent.subarray(from, (from = to)))
      const read = readAll(chunks)
      // JSON turns -0 into 0.
      expect(read.map(({ head }) => head)).toEqual(
        frames.map(({ head }) => JSON.parse(JSON.stringify(head)) as unknown),
      )
      expect(read.map(({ body }) => body)).toEqual(frames.map(({ body }) => Buffer.from(body)))
    }),
  )
})

test('PV6 does not pass on an incomplete frame', () => {
  const sent = bytes({ id: 1 }, Buffer.from('body'))
  for (let length = 0; length < sent.length; length++)
    expect(readAll([sent.subarray(0, length)])).toEqual([])
})

test.each([
  ['a head beyond the limit', [10_001, 0]],
  ['a body beyond the limit', [2, 10_001]],
  ['lengths of four gigabytes', [0xffffffff, 0xffffffff]],
])('PV6 refuses %s by its length alone', (_, [head = 0, body = 0]) => {
  const start = Buffer.alloc(8)
  start.writeUInt32BE(head, 0)
  start.writeUInt32BE(body, 4)
  expect(() => readAll([start])).toThrow('too large')
})

test('PV6 turns any bytes into frames or an error', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 }), (chunks) => {
      try {
        for (const { body } of readAll(chunks.map((chunk) => Buffer.from(chunk))))
          expect(body.length).toBeLessThanOrEqual(limits.body)
      } catch (error) {
        expect(error).toBeInstanceOf(Error)
        expect((error as Error).message).toMatch(/too large|JSON/)
      }
    }),
  )
})
