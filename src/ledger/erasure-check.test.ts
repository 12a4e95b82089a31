import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createErasureCheck } from './erasure-check.ts'

test('L8 RS7 missing and restored payloads are tracked per entry for any number of erasures', () => {
  const act = fc.oneof(
    { arbitrary: fc.constant({}), weight: 20 },
    fc.record({ one: fc.nat(20_000) }),
    fc.record({ upTo: fc.nat(20_000) }),
  )
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), fc.nat(300), (acts, stride) => {
      const erasures = createErasureCheck()
      const missing = new Set<number>()
      const present = new Set<number>()
      const restored = new Set<number>()
      const erase = (each: number) => {
        missing.delete(each)
        if (present.delete(each)) restored.add(each)
      }
      let seq = 0
      for (const { one, upTo } of acts as { one?: number; upTo?: number }[]) {
        seq += 1 + stride
        if (one !== undefined) {
          erasures.read(seq, 'payload.erased', { subject: String(one) })
          if (one < seq) erase(one)
        } else if (upTo !== undefined) {
          erasures.read(seq, 'payload.expired', { data: { up_to_seq: upTo } })
          for (const each of [...missing, ...present]) if (each <= upTo) erase(each)
        } else if (seq % 3 === 0) {
          erasures.present(seq)
          present.add(seq)
        } else {
          erasures.missing(seq)
          missing.add(seq)
        }
      }
      expect(erasures.listMissing(Infinity)).toEqual([...missing])
      expect(erasures.listRestored(Infinity)).toEqual([...restored].sort((a, b) => a - b))
      expect(erasures.listMissing(3)).toEqual([...missing].slice(0, 3))
    }),
    { numRuns: 500 },
  )
})
