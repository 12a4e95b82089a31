import { expect, test } from 'vitest'
import { measureLeaks, race, swaps } from './race/race.ts'

// Short: `npm run proof N32` does it a hundred thousand times.
test.each(swaps.flatMap((swap) => [true, false].map((landlock) => ({ swap, landlock }))))(
  'PV1 N32 nothing escapes while somebody swaps the $swap, with Landlock: $landlock',
  async ({ swap, landlock }) => {
    const found = await race({ swap, landlock, reads: 1000, writes: 200 })
    expect(found).toMatchObject({ containment: landlock ? 'landlock' : 'walk', escapes: 0 })
    // Both were met, so the swaps happened in between.
    for (const { done, refused } of [found.reads, found.writes]) {
      expect(done).toBeGreaterThan(0)
      expect(refused).toBeGreaterThan(0)
    }
  },
)

test.each(swaps)(
  'PV1 N32 a reader that checks the path and then opens it leaks (%s)',
  async (swap) => {
    expect((await measureLeaks(swap, 3)).leaked).toBe(3)
  },
)
