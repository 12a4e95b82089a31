import { afterEach, expect, test, vi } from 'vitest'
import { get } from './client.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

test('architecture: a parameter of a route goes into its path, all else into the query', async () => {
  const asked: string[] = []
  vi.stubGlobal('fetch', (url: string) => {
    asked.push(url)
    return Promise.resolve(Response.json({ items: [], next: null, counts: { all: 0 } }))
  })
  await get('/api/approvals', { kind: 'call', q: undefined })
  await expect(get('/api/approvals/{id}', { id: 'a/b', x: 1 })).rejects.toThrow(
    'GET /api/approvals/a%2Fb: id: is missing',
  )
  expect(asked).toEqual(['/api/approvals?kind=call', '/api/approvals/a%2Fb?x=1'])
})
