import { randomBytes } from 'node:crypto'
import { createRedactor } from '#ledger'

/** Protection for tests whose approvals need no ledger key. */
export const testProtection = () => ({
  protection: { redact: createRedactor({ secrets: [], patterns: [] }), key: randomBytes(32) },
  onErase: () => () => undefined,
  drawKeys: { draw: randomBytes(32), lot: randomBytes(32) },
})
