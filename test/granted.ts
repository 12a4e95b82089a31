// Grants over a real store, ledger, governance and disk: for the contract tests.
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Caller } from '#base/caller.ts'
import { migrate } from '#base/db/migrate.ts'
import { silentLog } from '#base/log.ts'
import { statePaths } from '#base/state.ts'
import { anna } from './acts.ts'
import { movableClock, openGoverned } from './governed.ts'
import type { Governed, Said, Settings, Store } from './governed.ts'
import { migrations } from '../src/app.ts'
import { inspectReplacedTargets } from '../src/files/check.ts'
import { toGuardSettings } from '../src/files/guard-settings.ts'
import { fileMigrations } from '../src/files/migrations.ts'
import { createGuard } from '../src/files/rules/guard.ts'
import { createGrants } from '../src/files/grants/service.ts'
import type { Grants } from '../src/files/grants/service.ts'
import { grantTools } from '../src/files/grants/tools.ts'

export type World = Awaited<ReturnType<typeof createWorld>>
export type Daemon = Awaited<ReturnType<World['start']>>

/** A home with files in it, and the daemons that are started on one store. */
export async function createWorld(store: Store) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'cowork-grants-')))
  const home = join(root, 'home')
  const workspace = join(home, 'AI')
  const docs = join(home, 'Documents')
  for (const folder of [workspace, join(docs, 'Work'), join(home, '.ssh')])
    mkdirSync(folder, { recursive: true })
  writeFileSync(join(docs, 'report.txt'), 'quarterly')
  writeFileSync(join(docs, 'Work', 'plan.md'), 'plan')
  writeFileSync(join(docs, 'credentials.json'), '{}')
  const clock = movableClock()

  async function start(settings: Settings = {}, node = 'here') {
    let grants: Grants | undefined
    const pathContext = { home, workspace }
    const governed = await openGoverned(
      settings,
      {
        domain({ db, config, identity, governance, now }) {
          const paths = statePaths(join(root, 'state'))
          const guard = createGuard(toGuardSettings({ config, paths, home, workspace }))
          const approvals = () => governance().approvals
          grants = createGrants({
            db,
            config,
            guard,
            pathContext,
            node,
            approvals,
            policyVersion: () => governance().versions.version(),
            agents: identity,
            sessions: identity.sessions,
            now,
            log: silentLog,
          })
          const defaultScope = config.grants.default_scope
          const agents = identity
          const tools = grantTools({
            db,
            grants,
            agents,
            approvals,
            guard,
            pathContext,
            defaultScope,
            now,
          })
          return { kinds: grants.kinds, tools, checks: [inspectReplacedTargets(grants)] }
        },
      },
      store,
      clock,
    )
    if (!grants) throw new Error('the domain was not asked for')
    const made = grants
    await migrate(governed.db, [...migrations, ...fileMigrations], 0)
    await governed.governance.versions.start()
    await made.start()
    let isOpen = true
    const stop = async () => {
      if (!isOpen) return
      isOpen = false
      await made.close()
      await governed.close()
    }
    onTestFinished(stop)
    const agent = (id = 'sales', connection = `${id}-1`) =>
      governed.identity.identify({
        door: 'mcp',
        address: '127.0.0.1',
        agentId: id,
        session: connection,
      })
    return { ...governed, grants: made, sales: await agent(), agent, stop, ...acts(governed) }
  }

  return { ...clock, home, workspace, docs, root, start }
}

/** Returns helpers that call the grant tools as agents and people. */
function acts(governed: Governed) {
  const ask = (path: string, by: Caller, more: object = {}) =>
    governed.call('request_grant', { path, permission: 'read', reason: 'to help', ...more }, by)
  const decide = async (id: unknown, more: object = {}): Promise<Said> => {
    const result = await governed.call(
      'cowork_decide',
      { approval_ids: [id], decision: 'approve', ...more },
      anna,
    )
    const [outcome = result] = (result['outcomes'] ?? []) as Said[]
    return outcome
  }
  return {
    ask,
    decide,
    allow: (id: unknown, choice: string, until?: string) =>
      decide(id, { grant: { choice, ...(until !== undefined && { until }) } }),
    check: (path: string, by: Caller) => governed.call('check_grant', { path }, by),
    add: (path: string, permission = 'read', more: object = {}) =>
      governed.call('add_grant', { path, permission, ...more }, anna),
    revoke: (id: unknown) => governed.call('revoke_grant', { grant_id: id }, anna),
    async listed(by: Caller): Promise<Said[]> {
      const { grants } = await governed.call('list_grants', {}, by)
      return grants as Said[]
    },
  }
}
