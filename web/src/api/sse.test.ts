import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSseParser } from './sse.ts'

const stream =
  'retry: 1000\nid: 3\nevent: hello\ndata: {"size":3}\n\n:\n\nid: 4\r\nevent: entry\r\ndata: {"seq":4,\r\ndata: "x":"ü: y"}\r\n\r\ndata:bare\r\rid: 9\n\n'
const events = [
  { event: 'hello', data: '{"size":3}', id: '3' },
  { event: 'entry', data: '{"seq":4,\n"x":"ü: y"}', id: '4' },
  { data: 'bare' },
]

test('C10 the parser result does not depend on the chunks', () => {
  expect(createSseParser()(stream)).toEqual(events)
  fc.assert(
    fc.property(fc.array(fc.nat(stream.length), { maxLength: 12 }), (cuts) => {
      const parse = createSseParser()
      const places = [0, ...cuts.toSorted((a, b) => a - b), stream.length]
      const read = places.flatMap((to, at) => parse(stream.slice(places[at - 1] ?? 0, to)))
      expect(read).toEqual(events)
    }),
  )
})
