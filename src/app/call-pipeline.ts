import {
  checkHaltScope,
  haltTools,
  notifyTools,
  spotCheck,
  startNotify,
  telegramClient,
} from '#approvals'
import type { DecideAs } from '#approvals'
import { createClockMonitor } from '#base/clock.ts'
import { CoworkError } from '#base/errors.ts'
import {
  checkAssured,
  checkBy,
  checkHalt,
  checkRole,
  checkScope,
  checkSelected,
  createCatalogue,
  createDispatch,
  createUse,
  discoveryTools,
} from '#dispatch'
import type { Catalogue, Dispatch } from '#dispatch'
import { checkDomain, governanceTools } from '#governance'
import { identityTools } from '#identity'
import type { Identity } from '#identity'
import { ledgerTools } from '#ledger'
import { startTelemetry } from '#server'
import { checkConfiguredTools } from './configured-tools.ts'
import { knownNames } from './known-names.ts'
import type { ModuleContext } from './module.ts'
import { onlyOne } from './open-modules.ts'
import type { Modules } from './open-modules.ts'
import type { StartupContext } from './startup.ts'
import type { Store } from './store.ts'

export type CallPipeline = ReturnType<typeof createCallPipeline>

/** Every tool, and the one path of every call to them, counted and traced. */
export function createCallPipeline(
  { config, configFile, paths, address, version, fixture, metrics, now, log, undo }: StartupContext,
  { db, ledger, redact }: Store,
  { identity, halts, governance, running }: Modules,
  lastAt: number,
) {
  // Nothing is awaited between those who decide elsewhere and the path they take.
  const notify = startNotify({
    ledger,
    db,
    channels: config.notify.channels,
    rules: config.notify.rules,
    quietHours: config.notify.quiet_hours,
    digest: config.notify.digest,
    publicUrl: address.consoleUrl,
    // What leaves this machine has no more in it than what the ledger keeps.
    describe: (reader, ids) => governance.approvals.describe(reader, ids, redact),
    decide: decideAs(identity, (request) => dispatch(request)),
    now,
    log: log.scope('notify'),
  })
  undo.add(notify.close)
  const catalogue: Catalogue = createCatalogue([
    ...governanceTools({ governance, ledger, identity, halts, version }),
    ...identityTools(identity, () => catalogue.list()),
    ...haltTools(halts),
    ...notifyTools(notify),
    ...ledgerTools(ledger, onlyOne(running.map(({ pathPrefixes }) => pathPrefixes))),
    ...running.flatMap(({ tools }) => tools),
    ...discoveryTools({ catalogue: () => catalogue, isOpen: () => identity.mode() === 'open' }),
    ...(fixture?.tools ?? []),
  ])
  checkConfiguredTools(config, configFile ?? paths.config, catalogue.list())
  const checkCaller = checkBy(address.inboxUrl)
  const uncounted = createDispatch({
    catalogue,
    checkCaller,
    checks: [
      checkCaller,
      checkRole,
      checkScope,
      checkSelected,
      checkAssured(identity.passkeys, governance.approvals),
      checkHalt(halts),
      checkHaltScope(knownNames({ governance, identity, ledger })),
      checkDomain(governance.domains),
      ...running.flatMap(({ checks = [] }) => checks),
      governance.judgeCall,
    ],
    approvals: governance.approvals,
    halts,
    isOpen: () => identity.mode() === 'open',
    clockBehind: createClockMonitor(now, lastAt),
    ledger,
    now,
    log: log.scope('dispatch'),
  })
  const isTool = (name: string) => catalogue.find(name) !== undefined
  for (const tool of Object.keys(config.authority.tool_budgets))
    if (!isTool(tool)) log.warn('authority.tool_budgets names a tool that there is not', { tool })
  metrics.addGauge('cowork_approvals_pending', 'Approvals that wait for a person.', async () => {
    const { all = 0, [spotCheck]: checks = 0 } = await governance.approvals.countPending()
    // An agent that may read the metrics must not learn what is checked (T14).
    return all - checks
  })
  const telemetry = startTelemetry({
    settings: config.server,
    metrics,
    isTool,
    version,
    now,
    log: log.scope('telemetry'),
  })
  undo.add(telemetry.close)
  const counted = telemetry.traceCalls(metrics.countCalls(uncounted, isTool))
  const dispatch: Dispatch = createUse(counted, catalogue)
  return { catalogue, dispatch }
}

/** What a person says elsewhere takes the path of every call, as that person (A5). */
const decideAs =
  (identity: Identity, dispatch: Dispatch): DecideAs =>
  async (person, approval, verdict) => {
    const { people } = await identity.people.list()
    const found = people.find(({ id, removedAt }) => id === person && removedAt === undefined)
    if (!found) return { refused: 'You are not among the people here any more.' }
    const answer = await dispatch({
      tool: 'cowork_decide',
      arguments: { approval_ids: [approval], decision: verdict },
      caller: {
        kind: 'human',
        id: person,
        role: found.role,
        verified: true,
        scopes: ['*'],
        session: `telegram-${person}`,
        channel: 'telegram',
        client: { name: telegramClient, version: '', transport: 'http' },
      },
    })
    if (answer.status !== 'done') return { refused: answer.message }
    const { outcomes } = answer.output as {
      outcomes: { status: string; error?: { code: string; message: string } }[]
    }
    const [{ status, error } = { status: 'error' }] = outcomes
    // A chat has no room for a second confirmation.
    if (error?.code === 'policy_conflict')
      return { refused: 'The active policy blocks this request: decide it in the console.' }
    return error ? { refused: error.message } : { status }
  }

const notMissing = ['too_large', 'store_unavailable', 'ledger_unwritable']

/** Sends the calls of modules through dispatch, as the caller they act for. */
export const createModuleCall =
  (dispatch: () => Dispatch): ModuleContext['call'] =>
  async (caller, tool, args) => {
    const answer = await dispatch()({ tool, arguments: args, caller })
    if (answer.status === 'done') return answer.output as Record<string, unknown>
    // A result that is too large, or unavailable for now, must not pass for a missing one.
    if (notMissing.includes(answer.code)) throw new CoworkError(answer.code, answer.message, answer)
    return undefined
  }
