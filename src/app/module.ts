import type { ApprovalKind, Approvals } from '#approvals'
import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import type { Migration } from '#base/db/migrate.ts'
import type { Db } from '#base/db/port.ts'
import type { Log } from '#base/log.ts'
import type { Prompt } from '#base/prompt.ts'
import type { ResourceSource } from '#base/resource.ts'
import type { StatePaths } from '#base/state.ts'
import type { Tool } from '#base/tool.ts'
import type { Check } from '#dispatch'
import type { GovernanceOptions } from '#governance'
import type { Identity, SharedKeys } from '#identity'
import type { Ledger, RecordedTable } from '#ledger'
import type { GuardedFiles } from '#work'

/** The code of a module, as `src/<module>/module.ts` exports it. */
export type LoadedModule = {
  readonly migrations?: readonly Migration[]
  /** The tables whose rows the ledger records, so that `verify` finds changed rows (L20). */
  readonly tables?: readonly RecordedTable[]
  /** Opens a module that serves tools. `app` itself opens the modules of records and decisions. */
  open?(context: ModuleContext): OpenedModule
}

/** The services for a module. A module declares the subset that it needs. */
export type ModuleContext = {
  readonly db: Db
  readonly ledger: Ledger
  readonly identity: Identity
  readonly config: Config
  /** The configuration file. */
  readonly configFile: string
  readonly paths: StatePaths
  readonly home: string
  readonly version: string
  /** The settings file of upstream MCP servers (U1). */
  readonly mcpSettings: string
  /** Masks secrets in text that leaves the daemon. */
  readonly maskSecrets: (text: string) => string
  readonly shared: SharedKeys | undefined
  /** Available once all modules are opened, because approvals need their kinds first. */
  readonly approvals: () => Approvals
  readonly policyVersion: () => string
  /** The file guard of the modules that started earlier. */
  readonly guarded: () => GuardedFiles
  /** Calls a tool for a caller through dispatch, once all modules have started. Returns undefined when it is refused. */
  readonly call: (
    caller: Caller,
    tool: string,
    args: Readonly<Record<string, unknown>>,
  ) => Promise<Record<string, unknown> | undefined>
  /** Calls back when another daemon of the same database appends entries of this noun. */
  readonly follow: (noun: string, refresh: () => Promise<void>) => void
  /** Runs when the start fails later or the system stops, newest first. */
  readonly onClose: (close: () => unknown) => void
  readonly now: Clock
  readonly log: Log
}

/** `list` returns the same array until `onChange` calls back. */
export type LiveTools = {
  list(): readonly Tool[]
  onChange(listener: () => void): () => void
  /** The servers of these tools, for the instructions of agents. */
  servers(): readonly { readonly name: string; readonly description: string }[]
}

/** A module before governance starts, with the data that governance needs. */
type OpenedModule = {
  readonly kinds?: readonly ApprovalKind[]
  readonly undo?: GovernanceOptions['undo']
  start(): Promise<RunningModule>
}

export type RunningModule = {
  readonly tools: readonly Tool[]
  /** Tools that come and go while the daemon runs. */
  readonly liveTools?: LiveTools
  readonly checks?: readonly Check[]
  readonly resources?: readonly ResourceSource[]
  readonly prompts?: (caller: Caller) => readonly Prompt[]
  /** Lines for the banner of the daemon. */
  readonly notices?: readonly string[]
  readonly guarded?: GuardedFiles
  /** Returns the path prefixes that an audit path filter covers. */
  readonly pathPrefixes?: (filter: string) => readonly string[]
}
