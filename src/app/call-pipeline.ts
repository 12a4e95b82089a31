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
  checkPasskey,
  checkCallerKind,
  checkHalt,
  checkRole,
  checkScope,
  checkSelected,
  createToolRegistry,
  createDispatch,
  createUseHandler,
  discoveryTools,
} from '#dispatch'
import type { ToolRegistry, Dispatch } from '#dispatch'
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

/** Creates all tools and the single path of every call, with metrics and traces. */
export function createCallPipeline(
  { config, configFile, paths, address, version, fixture, metrics, now, log, undo }: StartupContext,
  { db, ledger, redact }: Store,
  { identity, halts, governance, running }: Modules,
  lastAt: number,
) {
  // No await between this start and `dispatch`, which the decisions of chats need.
  const notify = startNotify({
    ledger,
    db,
    channels: config.notify.channels,
    rules: config.notify.rules,
    quietHours: config.notify.quiet_hours,
    digest: config.notify.digest,
    publicUrl: address.consoleUrl,
    // Notifications are redacted like ledger entries.
    describe: (reader, ids) => governance.approvals.describe(reader, ids, redact),
    decide: decideAs(identity, (request) => dispatch(request)),
    now,
    log: log.scope('notify'),
  })
  undo.add(notify.close)
  const liveTools = onlyOne(running.map((module) => module.liveTools))
  const builtinTools = [
    ...governanceTools({ governance, ledger, identity, halts, version }),
    ...identityTools(identity, () => registry.list()),
    ...haltTools(halts),
    ...notifyTools(notify),
    ...ledgerTools(ledger, onlyOne(running.map(({ pathPrefixes }) => pathPrefixes))),
    ...running.flatMap(({ tools }) => tools),
    ...discoveryTools({ registry: () => registry, isOpen: () => identity.mode() === 'open' }),
    ...(fixture?.tools ?? []),
  ]
  const registry: ToolRegistry = createToolRegistry(builtinTools, liveTools?.list)
  checkConfiguredTools(config, configFile ?? paths.config, builtinTools)
  const checkCaller = checkCallerKind(address.inboxUrl)
  const uncounted = createDispatch({
    registry,
    checkCaller,
    checks: [
      checkCaller,
      checkRole,
      checkScope,
      checkSelected,
      checkPasskey(identity.passkeys, governance.approvals),
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
  const isKnownTool = (name: string) => registry.find(name) !== undefined
  for (const tool of Object.keys(config.authority.tool_budgets))
    if (!isKnownTool(tool)) log.warn('authority.tool_budgets contains an unknown tool', { tool })
  metrics.addGauge('cowork_approvals_pending', 'Pending approvals.', async () => {
    const { all = 0, [spotCheck]: checks = 0 } = await governance.approvals.countPending()
    // Agents can read the metrics and must not learn which actions are reviewed (T14).
    return all - checks
  })
  const telemetry = startTelemetry({
    settings: config.server,
    metrics,
    isTool: isKnownTool,
    version,
    now,
    log: log.scope('telemetry'),
  })
  undo.add(telemetry.close)
  const counted = telemetry.traceCalls(metrics.countCalls(uncounted, isKnownTool))
  const dispatch: Dispatch = createUseHandler(counted, registry)
  return { registry, dispatch }
}

/** Sends a decision from a chat through dispatch, as that person (A5). */
const decideAs =
  (identity: Identity, dispatch: Dispatch): DecideAs =>
  async (person, approval, verdict) => {
    const { people } = await identity.people.list()
    const member = people.find(({ id, removedAt }) => id === person && removedAt === undefined)
    if (!member) return { refused: 'You no longer have access to this cowork.' }
    const answer = await dispatch({
      tool: 'cowork_decide',
      arguments: { approval_ids: [approval], decision: verdict },
      caller: {
        kind: 'human',
        id: person,
        role: member.role,
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
    // A chat cannot ask for a second confirmation.
    if (error?.code === 'policy_conflict')
      return { refused: 'The active policy blocks this request. Decide in the console.' }
    return error ? { refused: error.message } : { status }
  }

const thrownCodes = ['too_large', 'store_unavailable', 'ledger_unwritable']

/** Sends calls of modules through dispatch, as the caller for whom they act. */
export const createModuleCall =
  (dispatch: () => Dispatch): ModuleContext['call'] =>
  async (caller, tool, args) => {
    const answer = await dispatch()({ tool, arguments: args, caller })
    if (answer.status === 'done') return answer.output as Record<string, unknown>
    // A result that is too large or temporarily unavailable must not look like a missing one.
    if (thrownCodes.includes(answer.code))
      throw new CoworkError(answer.code, answer.message, answer)
    return undefined
  }
