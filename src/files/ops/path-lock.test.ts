import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { walkAndLock, withPathLock } from './path-lock.ts'

test('FT10 locks the new path if the path changed during the wait', async () => {
  const steps: string[] = []
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let place = '/a'
  const walk = <T>(use: (at: string) => Promise<T>) => use(place)
  const atA = withPathLock(['/a'], () => first.promise)
  const acting = walkAndLock(
    walk,
    (at) => [at],
    async (at) => steps.push(`acts at ${at}`),
  )
  await setImmediate()
  const atB = withPathLock(['/b'], () => second.promise)
  place = '/b'
  first.resolve()
  await atA
  await setImmediate()
  steps.push('b is done')
  second.resolve()
  await Promise.all([atB, acting])
  expect(steps).toEqual(['b is done', 'acts at /b'])
})

test('FT10 never locks a path twice, and every operation finishes', async () => {
  const names = fc.constantFrom('/a', '/a/b', '/a/b/c', '/d', '/d/e')
  const asks = fc.array(fc.record({ paths: fc.tuple(names, names), later: names }), {
    maxLength: 12,
  })
  await fc.assert(
    fc.asyncProperty(asks, async (all) => {
      const at = new Set<string>()
      const overlaps = (path: string) =>
        [...at].some((one) => `${one}/`.startsWith(`${path}/`) || `${path}/`.startsWith(`${one}/`))
      const run = async ({ paths, later }: (typeof all)[number]) => {
        let walks = 0
        const walk = <T>(use: (place: readonly string[]) => Promise<T>) =>
          use(walks++ === 0 ? paths : [later])
        return walkAndLock(
          walk,
          (place) => place,
          async (place) => {
            expect(place.some(overlaps)).toBe(false)
            for (const one of place) at.add(one)
            await setImmediate()
            for (const one of place) at.delete(one)
          },
        )
      }
      await Promise.all(all.map(run))
    }),
  )
})
