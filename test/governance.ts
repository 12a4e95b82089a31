import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { approvalMigrations } from '#approvals'
import type { Caller } from '#base/caller.ts'
import { loadConfig } from '#base/config/index.ts'
import type { Config } from '#base/config/index.ts'
import type { Db } from '#base/db/port.ts'
import { silentLog } from '#base/log.ts'
import { createGovernance, governanceMigrations } from '#governance'
import type { GovernanceOptions } from '#governance'
import { testProtection } from './protection.ts'
import { guardedToolsets } from '../src/app/modules.ts'

export const governanceSchema = [...approvalMigrations, ...governanceMigrations]

/** The configuration of a test, by dotted names. */
export function testConfig(settings: Record<string, unknown> = {}): Config {
  const state = mkdtempSync(join(tmpdir(), 'cowork-config-'))
  const flags = Object.entries(settings).map(([path, value]) => ({
    path: path.split('.'),
    value,
    origin: 'the test',
  }))
  return loadConfig({ env: { COWORK_STATE_DIR: state }, flags }).config
}

/** Agents that are never revoked. */
const everyoneStays = {
  isSameAgent: () => Promise.resolve(true),
  isRemoved: () => Promise.resolve(false),
  onRevoked: () => () => undefined,
}

/** Governance over a store; without spot checks unless a test sets `draw`. */
export function testGovernance(
  db: Db,
  settings: Record<string, unknown> = {},
  more: Partial<Pick<GovernanceOptions, 'now' | 'draw' | 'kinds' | 'readCall'>> = {},
) {
  return createGovernance({
    guardedToolsets,
    db,
    config: testConfig(settings),
    agents: everyoneStays,
    people: { canStillDecide: () => Promise.resolve(true) },
    reviewUrl: (id) => `http://localhost:8765/inbox/${id}`,
    now: Date.now,
    log: silentLog,
    draw: () => 1,
    ...testProtection(),
    ...more,
  })
}

export const agentCaller = (id = 'sales'): Caller => ({
  kind: 'agent',
  id,
  session: `session-of-${id}`,
  verified: true,
  scopes: ['*'],
})

export const personCaller = (id = 'anna'): Caller => ({
  kind: 'human',
  id,
  session: `session-of-${id}`,
  verified: true,
  scopes: ['*'],
  role: 'owner',
})
