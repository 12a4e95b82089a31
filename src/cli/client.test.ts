import { expect, test } from 'vitest'
import { toRequestPath } from './client.ts'

test.each([
  ['/api/ledger', {}, '/api/ledger'],
  ['/api/ledger', { after: 2, type: undefined, newest: true }, '/api/ledger?after=2&newest=true'],
  ['/api/ledger/{seq}/proof', { seq: 7 }, '/api/ledger/7/proof'],
  [
    '/api/approvals/{id}',
    { id: 'a/b?{id}$&', q: 'x y' },
    '/api/approvals/a%2Fb%3F%7Bid%7D%24%26?q=x+y',
  ],
])('architecture: a request for %s with %j goes to %s', (path, fields, requested) => {
  expect(toRequestPath(path, fields)).toBe(requested)
})
