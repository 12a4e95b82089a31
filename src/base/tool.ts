import type * as z from 'zod'
import type { Caller, Role } from './caller.ts'
import type { Tx } from './db/port.ts'
import type { EntryIds } from './entry.ts'
import { CoworkError } from './errors.ts'
import type { ErrorCode } from './errors.ts'

type Effect = 'read' | 'write' | 'destructive'

/** A running call, as a tool sees it. */
export type Call = {
  readonly id: string
  readonly caller: Caller
  /** Aborted when the client cancels or disconnects (SV14). */
  readonly signal: AbortSignal
  /** Reports progress to a client that requested it (SV14). */
  readonly progress: (done: number, total?: number, message?: string) => void
  /** Adds details to the entry that ends the call, for example the file size. */
  readonly addDetails: (facts: CallDetails) => void
  /** Records the start of the call, once; for tools with `startsBeforeRecord`. Resolves after the commit. */
  readonly recordStart?: () => Promise<void>
  /**
   * For tools with `run`: resolves when the transaction that records the end of the call is queued, or when the call
   * fails before that. A transaction that is requested afterwards commits afterwards.
   */
  readonly commitQueued?: Promise<void>
  /** The MCP request context, for tools with `speaksMcp`. Absent on other endpoints. */
  readonly mcpContext?: unknown
}

export type CallDetails = {
  readonly ids?: EntryIds
  readonly data?: Readonly<Record<string, unknown>>
  /** A file that the call affects. The entry lists several files, and a single file that is not its subject. */
  readonly touched?: { readonly file: TouchedFile; readonly isSubject: boolean }
}

/** A file that a call affected (FT8). For an absent field, the value of the entry applies. */
export type TouchedFile = {
  readonly path: string
  /** `workspace` or `granted`. */
  readonly area?: string
  readonly grant?: string
  /** False if only this file was refused. */
  readonly success?: boolean
  readonly code?: string
  readonly size_bytes?: number
  readonly sha256?: string
}

/** The target of a call for policies and for the ledger. */
export type CallTarget = {
  readonly domain: string
  readonly target?: string
  /** The text for people, if `target` alone is not clear enough. */
  readonly shown?: string
  /** Data about the target for every entry of the call, also if it is refused. */
  readonly data?: Readonly<Record<string, unknown>>
}

/** A path that a call needs, with the kind of access. */
export type PathRequest = {
  readonly path: string
  readonly need: 'read' | 'create' | 'write' | 'delete'
  /** True if the call creates a file with this name, so its extension matters (F5). */
  readonly createsFile?: boolean
  /** True if the owner may read the stored versions without a current grant (TR3). */
  readonly ownerNeedsNoGrant?: boolean
}

/** The `progress` of a call whose client did not request progress. */
export const noProgress: Call['progress'] = () => undefined

type Input = z.ZodObject
type Common<I extends Input, O extends z.ZodType> = {
  readonly name: string
  readonly title: string
  readonly description: string
  /** The toolset, which has its own endpoint besides `/mcp` (SV11). */
  readonly toolset: string
  /** Part of the default list (SV17). */
  readonly core?: boolean
  /** Permitted callers. Without this restriction an agent could approve its own requests. */
  readonly by: 'agent' | 'human' | 'anyone'
  /** The minimum role of a person. Default: viewer for reads, reviewer for the rest (I6). */
  readonly role?: Role
  /** True if a person with a passkey must confirm with it (I6). */
  readonly requiresPasskey?: true
  /** Returns the approvals that the call would approve. One with high risk requires the passkey (I6). */
  readonly approves?: (input: z.output<I>) => readonly string[] | 'unknown'
  /** True if its transaction runs before queued ones: a halt must not wait for the calls that it stops (RS4). */
  readonly isUrgent?: true
  /** True if the call only opens a request to a person, so that it needs no approval of its own. */
  readonly isRequestOnly?: true
  /** True if every caller may use this tool for people while authentication is off (A3). */
  readonly allowsUnverified?: true
  readonly idempotent?: boolean
  /** True if a writing tool only adds data (`destructiveHint: false`). */
  readonly additive?: true
  readonly openWorld?: boolean
  readonly input: I
  readonly output: O
  /** True if the tool returns an `McpResult` and may send requests to the client. */
  readonly speaksMcp?: true
  /** Parts of the tool listing from another server, unchanged (its schemas, icons, `_meta`). */
  readonly listing?: Readonly<Record<string, unknown>>
  readonly describeTarget?: (input: z.output<I>) => CallTarget
  /** Returns the paths to check before the call runs. Absent if the tool checks each path itself. */
  readonly paths?: (input: z.output<I>) => readonly PathRequest[]
  /**
   * Returns whether these arguments make the call high risk, so that trust applies to it in every domain. A string is the
   * reason for people and follows "because".
   */
  readonly isRisky?: (input: z.output<I>) => boolean | string
  /** The name of the tool on its upstream server; its toolset names the server (U3). */
  readonly upstream?: string
  /** The scopes that a caller needs, every one of them, instead of effect and toolset (U7). */
  readonly scopes?: readonly string[]
  /** True if the arguments may be as large as a file (SV25). */
  readonly large?: true
  /** Returns the part of the arguments that the ledger stores; all of them if absent (L8). */
  readonly toPayload?: (input: z.output<I>) => object | Promise<object>
  /** Argument names of the source projects: accepted, not listed. */
  readonly aliases?: Readonly<Record<string, string>>
  /** A minimal valid call, if the required arguments alone are not valid. Argument errors show it (SV27). */
  readonly example?: Readonly<Record<string, unknown>>
  /** Selects another tool of the same name for these arguments, for example the reading variant of a writing tool. */
  readonly forInput?: (input: z.output<I>) => Tool | undefined
  /** Returns the arguments with canonical paths, so that calls with different spellings are the same call (A1). */
  readonly canonicalInput?: (input: z.output<I>) => z.output<I>
  /**
   * Returns the state of each target by name. An approved call runs only while the states are unchanged (A15). Undefined
   * if the state cannot be read.
   */
  readonly fingerprint?: (
    input: z.output<I>,
    caller: Caller,
  ) => Promise<Readonly<Record<string, unknown>> | undefined>
  /** Removes the parts of the output that a model does not need. MCP sends this form by default (SV19). */
  readonly lean?: (output: z.output<O>) => unknown
  /** Formats the output as text for a model. Without it the text is the lean output as JSON (SV19). */
  readonly text?: (output: z.output<O>) => string
  /** True if the text is complete. MCP then sends only the text unless the client requests structured results (SV19). */
  readonly textOnly?: true
  /** Formats the output as MCP content blocks, if it is more than one text (SV19). */
  readonly toMcpContent?: (output: z.output<O>) => readonly ContentBlock[]
}

/** A block of an MCP tool result. */
export type ContentBlock = Readonly<Record<string, unknown>>

/** A tool reads (`read`), changes only the store (`transact`), or acts outside of the store (`run`). */
export type Tool<I extends Input = Input, O extends z.ZodType = z.ZodType> = Common<I, O> &
  (ReadTool<I, O> | ChangeTool<I, O> | RunTool<I, O>)

/** The result is returned first and recorded soon after. */
type ReadTool<I extends Input, O extends z.ZodType> = {
  readonly effect: 'read'
  readonly read: (input: z.output<I>, call: Call) => Promise<z.output<O>>
  readonly transact?: never
  readonly run?: never
}

/** The change and its entry are one transaction. */
type ChangeTool<I extends Input, O extends z.ZodType> = {
  readonly effect: Effect
  readonly transact: (
    tx: Tx,
    input: z.output<I>,
    call: Call,
  ) => Promise<z.output<O> | RefusedResult>
  readonly read?: never
  readonly run?: never
}

/** Recorded before it acts and again before the result is returned. */
type RunTool<I extends Input, O extends z.ZodType> = {
  readonly effect: Exclude<Effect, 'read'>
  readonly run: (input: z.output<I>, call: Call) => Promise<RunResult<z.output<O>>>
  /**
   * True if the tool may start while `call.started` is being committed. It must have no visible effect before
   * `recordStart` resolves. This saves one wait for the disk.
   */
  readonly startsBeforeRecord?: true
  readonly read?: never
  readonly transact?: never
}

export type RunResult<T = unknown> = {
  readonly output: T
  /** Writes the result of the run to the store, in the transaction that records its end. */
  readonly finalize?: (tx: Tx) => Promise<void>
}

/** Types the functions of a tool by its schemas. Dispatch parses the input before it calls them. */
export const defineTool = <I extends Input, O extends z.ZodType>(tool: Tool<I, O>): Tool =>
  tool as unknown as Tool

/** A result in MCP format, such as from an upstream server. The MCP endpoint sends it unchanged. */
export class McpResult {
  readonly result: Readonly<Record<string, unknown>>

  constructor(result: Readonly<Record<string, unknown>>) {
    this.result = result
  }

  toJSON(): unknown {
    return this.result
  }
}

/** Refuses the call from `transact`, but commits its writes: a policy that blocks still opens an approval. */
export class RefusedResult {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
  readonly details: Readonly<Record<string, unknown>>

  constructor(
    code: ErrorCode,
    message: string,
    { hint, details = {} }: { hint: string; details?: Readonly<Record<string, unknown>> },
  ) {
    this.code = code
    this.message = message
    this.hint = hint
    this.details = details
  }
}

/** Builds the error that a tool throws if MCP requires a specific JSON-RPC error. */
export const rpcError = (code: number, message: string, data?: unknown): CoworkError =>
  new CoworkError('rpc_error', message, { details: { rpc_code: code, rpc_data: data } })
