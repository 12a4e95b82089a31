import { resolveReference } from '#base/config/index.ts'
import type { Clock } from '#base/clock.ts'
import type { Db, Tx } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import type { Actor } from '#base/entry.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { startPeriodicTask } from '#base/periodic-task.ts'
import { sanitizeText } from '#base/sanitize.ts'
import type { RawTool } from './model.ts'
import { createRemoteToolServer } from './remote-server.ts'
import type { McpRemoteToolServer } from './remote-server.ts'
import { checkPins, toPin } from './rules/pinning.ts'
import type { PinCheck, QuarantinedTool } from './rules/pinning.ts'
import { scanTools } from './rules/scan.ts'
import type { ToolFlag } from './rules/scan.ts'
import type { ServerSettings, ServerTransport } from './settings.ts'
import type { SettingsFile } from './settings-file.ts'
import type { GatewayStore } from './store.ts'

type Deps = {
  readonly db: Db
  readonly store: GatewayStore
  readonly file: SettingsFile
  readonly version: string
  readonly home: string
  readonly now: Clock
  readonly log: Log
}

const settingsPollMs = 1000

/** One configured server with what the gateway knows of its tools. */
export type ManagedServer = {
  readonly remote: McpRemoteToolServer
  /** Raw tools that agents may use. */
  readonly accepted: readonly RawTool[]
  readonly quarantined: readonly QuarantinedTool[]
  readonly flags: readonly ToolFlag[]
}

/** Loads the settings, runs one bridge per server and decides which tools are served (U1, U2, U8). */
export type McpServerManager = ReturnType<typeof createServerManager>

export function createServerManager(deps: Deps) {
  const { db, store, file, now, log } = deps
  const servers = new Map<string, ManagedServer>()
  const listeners = new Set<() => void>()
  let settingsError: string | undefined

  const notify = () => {
    for (const listener of listeners) listener()
  }

  function add(settings: ServerSettings): void {
    const remote = createRemoteToolServer({
      settings,
      resolveSecrets: () => resolveTransport(settings),
      onTools: (tools) => updateTools(settings.name, tools),
      onStatus: notify,
      version: deps.version,
      home: deps.home,
      now,
      log,
    })
    servers.set(settings.name, { remote, accepted: [], quarantined: [], flags: [] })
  }

  async function remove(name: string): Promise<void> {
    const server = servers.get(name)
    servers.delete(name)
    await server?.remote.close()
  }

  /** Applies a changed file. Servers whose settings stay the same keep their connection. */
  async function reload(): Promise<void> {
    let next: readonly ServerSettings[] | undefined
    try {
      next = file.readIfChanged()
    } catch (error) {
      settingsError = errorMessage(error)
      log.error('settings are invalid, the last valid settings stay active', {
        error: settingsError,
      })
      notify()
      return
    }
    if (!next) return
    settingsError = undefined
    const byName = new Map(next.map((settings) => [settings.name, settings]))
    for (const [name, { remote }] of servers) {
      const settings = byName.get(name)
      if (settings && JSON.stringify(settings) === JSON.stringify(remote.settings))
        byName.delete(name)
      else await remove(name)
    }
    for (const settings of byName.values()) add(settings)
    notify()
  }

  /** Compares a fresh list with the accepted tools. The first list of a server is accepted, except flagged tools. */
  async function updateTools(name: string, tools: readonly RawTool[]): Promise<void> {
    const others = new Map([...servers].map(([other, { accepted }]) => [other, accepted]))
    const flags = scanTools(name, tools, others)
    const check = await db.transact(async (tx) => {
      const pins = await store.pins(tx, name)
      if (pins.length > 0) return checkPins(tools, pins)
      return pinFirstList(tx, name, tools, flags)
    })
    const server = servers.get(name)
    if (!server) return
    const accepted = new Set(check.accepted)
    servers.set(name, {
      remote: server.remote,
      accepted: tools.filter((tool) => accepted.has(tool.name)),
      quarantined: check.quarantined,
      flags,
    })
    await recordQuarantine(name, server.quarantined, check.quarantined)
    notify()
  }

  async function pinFirstList(
    tx: Tx,
    server: string,
    tools: readonly RawTool[],
    flags: readonly ToolFlag[],
  ): Promise<PinCheck> {
    const held = new Set(flags.filter(isSevere).map(({ tool }) => tool))
    const pins = tools.filter(({ name }) => !held.has(name)).map(toPin)
    const quarantined = tools
      .filter(({ name }) => held.has(name))
      .map((tool): QuarantinedTool => ({ ...toPin(tool), reason: 'flagged' }))
    if (pins.length === 0) return { accepted: [], quarantined, missing: [] }
    await store.savePins(tx, server, { pins, by: systemActor.id, at: now() })
    const accepted = pins.map(({ tool }) => tool)
    tx.append({
      type: 'server.tools_pinned',
      actor: systemActor,
      domain: server,
      subject: server,
      data: { tools: accepted },
      payload: { hashes: Object.fromEntries(pins.map(({ tool, hash }) => [tool, hash])) },
    })
    return { accepted, quarantined, missing: [] }
  }

  async function recordQuarantine(
    server: string,
    before: readonly QuarantinedTool[],
    after: readonly QuarantinedTool[],
  ): Promise<void> {
    const known = new Set(before.map(({ hash }) => hash))
    const fresh = after.filter(({ hash }) => !known.has(hash))
    if (fresh.length === 0) return
    await db.transact(async (tx) => {
      await Promise.resolve()
      for (const { tool, reason, hash, definition, before: former } of fresh)
        tx.append({
          type: 'server.tool_quarantined',
          actor: systemActor,
          domain: server,
          subject: sanitizeText(tool, 200),
          data: { reason, hash },
          payload: { definition, ...(former && { before: former }) },
        })
    })
    log.warn('tools are quarantined', { server, tools: fresh.map(({ tool }) => tool) })
  }

  function get(name: string): ManagedServer {
    const server = servers.get(name)
    if (server) return server
    const names = [...servers.keys()].join(', ') || 'none'
    throw new CoworkError(
      'server_unknown',
      `Unknown server: ${JSON.stringify(name.slice(0, 100))}.`,
      {
        hint: `Configured servers: ${names}.`,
      },
    )
  }

  const watcher = startPeriodicTask({
    intervalMs: settingsPollMs,
    run: reload,
    failure: 'settings cannot be read',
    log,
  })

  return {
    list: (): readonly ManagedServer[] => [...servers.values()],
    get,
    settingsError: () => settingsError,
    settingsPath: file.path,
    /** Reads a changed settings file now instead of at the next poll. */
    reload: () => watcher.runNow(),
    /** Sends a request that dispatch has let through. */
    request: (
      name: string,
      ...request: Parameters<McpRemoteToolServer['request']>
    ): ReturnType<McpRemoteToolServer['request']> => get(name).remote.request(...request),
    /** Accepts quarantined tools as they are now. Returns their names. */
    async accept(
      tx: Tx,
      name: string,
      { tools, actor }: { readonly tools: readonly string[] | undefined; readonly actor: Actor },
    ): Promise<readonly string[]> {
      const { quarantined } = get(name)
      const chosen = quarantined.filter(({ tool }) => tools === undefined || tools.includes(tool))
      const unknown = tools?.find((tool) => !chosen.some((item) => item.tool === tool))
      if (unknown !== undefined)
        throw new CoworkError('tool_unknown', `Not quarantined: ${JSON.stringify(unknown)}.`, {
          hint: `Quarantined tools of ${name}: ${quarantined.map(({ tool }) => tool).join(', ') || 'none'}.`,
        })
      const gone = chosen.flatMap(({ reason, before }) =>
        reason === 'renamed' && before ? [before.name] : [],
      )
      await store.savePins(tx, name, { pins: chosen, gone, by: actor.id, at: now() })
      const accepted = chosen.map(({ tool }) => tool)
      tx.append({
        type: 'server.tools_accepted',
        actor,
        domain: name,
        subject: name,
        data: { tools: accepted },
        payload: { hashes: Object.fromEntries(chosen.map(({ tool, hash }) => [tool, hash])) },
      })
      return accepted
    },
    /** Compares the known list again, after tools were accepted. */
    recheck: (name: string): Promise<void> => updateTools(name, get(name).remote.tools()),
    onChange(listener: () => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async close(): Promise<void> {
      await watcher.close()
      await Promise.all([...servers.keys()].map(remove))
    },
  }
}

/** Flags that keep a tool from agents until a person has looked at it; the others are shown as warnings. */
const isSevere = ({ kind }: ToolFlag): boolean =>
  kind === 'invisible' || kind === 'instruction' || kind === 'look_alike'

const reference = /^(?:env|file|op|keychain|cmd):/

/** Replaces references such as `keychain:github` by their secrets, in memory only (I8). */
async function resolveTransport(settings: ServerSettings): Promise<ServerTransport> {
  const { name, transport } = settings
  const resolveAll = async (values: Readonly<Record<string, string>>, kind: string) =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(values).map(async ([key, value]) => [
          key,
          reference.test(value)
            ? await resolveReference(value, `${kind} ${key} of the server ${name}`)
            : value,
        ]),
      ),
    ) as Record<string, string>
  return transport.type === 'stdio'
    ? { ...transport, env: await resolveAll(transport.env, 'variable') }
    : { ...transport, headers: await resolveAll(transport.headers, 'header') }
}
