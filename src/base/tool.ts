import type * as z from 'zod'
import type { Caller, Role } from './caller.ts'
import type { Tx } from './db/port.ts'
import type { EntryIds } from './entry.ts'
import { CoworkError } from './errors.ts'
import type { ErrorCode } from './errors.ts'

type Effect = 'read' | 'write' | 'destructive'

/** One call on its way through dispatch, as a tool sees it. */
export type Call = {
  readonly id: string
  readonly caller: Caller
  /** Aborted when the client cancels or goes away (SV14). */
  readonly signal: AbortSignal
  /** Tells a client that asked for it how far the call is (SV14). */
  readonly progress: (done: number, total?: number, message?: string) => void
  /** What the entry that ends the call says besides, such as the size of a file. */
  readonly addDetails: (facts: CallDetails) => void
  /**
   * Of a tool that `begins`: puts the call on record, once. Resolves when it is there, rejects when it will not be.
   */
  readonly recordStart?: () => Promise<void>
  /**
   * Of a `run`: resolves when the transaction that records its end is queued, or never will be. A transaction that is
   * asked for after that comes after it.
   */
  readonly commitQueued?: Promise<void>
  /** What the MCP door adds for tools that speak MCP themselves; absent on the other doors. */
  readonly exchange?: unknown
}

export type CallDetails = {
  readonly ids?: EntryIds
  readonly data?: Readonly<Record<string, unknown>>
  /** One more file that the call is about. Several are listed; so is one that is not the subject of the entry. */
  readonly touched?: { readonly file: TouchedFile; readonly isSubject: boolean }
}

/** One of the files that a call was about (FT8). What is not said of it is as the entry says. */
export type TouchedFile = {
  readonly path: string
  /** In the workspace, or under a grant. */
  readonly area?: string
  readonly grant?: string
  /** False where this one was refused, though others were not. */
  readonly success?: boolean
  readonly code?: string
  readonly size_bytes?: number
  readonly sha256?: string
}

/** What a call is about, in the words of policy and of the ledger. */
export type CallTarget = {
  readonly domain: string
  readonly target?: string
  /** What people read instead, where the target alone says too little. */
  readonly shown?: string
  /** What every entry of the call says of the target, refused or not. */
  readonly data?: Readonly<Record<string, unknown>>
}

/** A path that a call needs, and what for. */
export type PathRequest = {
  readonly path: string
  readonly need: 'read' | 'create' | 'write' | 'delete'
  /** A file comes to be under this name, so its extension matters (F5). */
  readonly makes?: boolean
  /** What is kept of the file is the owner's, whatever is granted by now (TR3). */
  readonly ownerNeedsNoGrant?: boolean
}

/** The `progress` of a call whose client did not ask for it. */
export const noProgress: Call['progress'] = () => undefined

type Input = z.ZodObject
type Common<I extends Input, O extends z.ZodType> = {
  readonly name: string
  readonly title: string
  readonly description: string
  /** The address it is listed under besides `/mcp` (SV11). */
  readonly toolset: string
  /** Part of the default list (SV17). */
  readonly core?: boolean
  /** Who may call it: without this an agent could approve itself. */
  readonly by: 'agent' | 'human' | 'anyone'
  /** The least role a person needs; by default to read is for viewers and the rest for reviewers (I6). */
  readonly role?: Role
  /** High risk: a person who has a passkey must have shown it (I6). */
  readonly requiresPasskey?: true
  /** The approvals that a call would grant: high risk among them asks for the passkey, too (I6). */
  readonly approves?: (input: z.output<I>) => readonly string[] | 'unknown'
  /** Its transaction runs before those that wait: a halt must not queue behind what it is to stop (RS4). */
  readonly isUrgent?: true
  /** It only asks a person: nothing follows from it before they say yes, so nobody is asked about asking. */
  readonly isRequestOnly?: true
  /** For people, but in open mode, where nobody can be told apart, for every caller (A3). */
  readonly allowsUnverified?: true
  readonly idempotent?: boolean
  /** A tool that writes only adds, and changes nothing that was there (`destructiveHint: false`). */
  readonly additive?: true
  readonly openWorld?: boolean
  readonly input: I
  readonly output: O
  /** It answers in MCP's own words (`McpResult`), and may ask the client something in between. */
  readonly speaksMcp?: true
  /** Parts of the listing kept as another server wrote them (its schemas, icons, `_meta`). */
  readonly listing?: Readonly<Record<string, unknown>>
  readonly describeTarget?: (input: z.output<I>) => CallTarget
  /** The paths that a call needs, checked before it runs. Absent where the tool answers path by path. */
  readonly paths?: (input: z.output<I>) => readonly PathRequest[]
  /**
   * These arguments make it high risk, and trust decides about it wherever it belongs. Said as the reason where there
   * is one for people to read: what follows "because".
   */
  readonly isRisky?: (input: z.output<I>) => boolean | string
  /** Its arguments may be as large as a file (SV25). */
  readonly large?: true
  /** What the ledger keeps of the arguments, where all of them is too much (L8). */
  readonly toPayload?: (input: z.output<I>) => object | Promise<object>
  /** Other names of arguments, as the seeds write them: accepted, not listed. */
  readonly aliases?: Readonly<Record<string, string>>
  /** A minimal valid call, where the required arguments alone are none. Errors about arguments show it (SV27). */
  readonly example?: Readonly<Record<string, unknown>>
  /** The tool of the same name that does what these arguments ask for, such as reading where this one writes. */
  readonly forInput?: (input: z.output<I>) => Tool | undefined
  /** The arguments with every path in its canonical form: calls that differ only in spelling are one call (A1). */
  readonly canonicalInput?: (input: z.output<I>) => z.output<I>
  /**
   * The state of each target by its name, while a person decides: a call approved for another state does not run
   * (A15). Undefined where it cannot be read.
   */
  readonly fingerprint?: (
    input: z.output<I>,
    caller: Caller,
  ) => Promise<Readonly<Record<string, unknown>> | undefined>
  /** The output without the parts that a model has no use for: MCP sends this form by default (SV19). */
  readonly lean?: (output: z.output<O>) => unknown
  /** Every fact of the output for a model to read; the lean output as JSON where absent (SV19). */
  readonly text?: (output: z.output<O>) => string
  /** The text says everything: MCP sends it alone, unless the client asks for structured results (SV19). */
  readonly textOnly?: true
  /** The output as blocks of MCP, where it is more than one text (SV19). */
  readonly toMcpContent?: (output: z.output<O>) => readonly ContentBlock[]
}

/** A block of an MCP tool result. */
export type ContentBlock = Readonly<Record<string, unknown>>

/** A tool only looks (`read`), changes the store alone (`change`), or acts outside of it (`run`). */
export type Tool<I extends Input = Input, O extends z.ZodType = z.ZodType> = Common<I, O> &
  (ReadTool<I, O> | ChangeTool<I, O> | RunTool<I, O>)

/** Answered first and recorded soon after. */
type ReadTool<I extends Input, O extends z.ZodType> = {
  readonly effect: 'read'
  readonly read: (input: z.output<I>, call: Call) => Promise<z.output<O>>
  readonly transact?: never
  readonly run?: never
}

/** What it changes and the entry about it are one transaction. */
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

/** On record before it acts, and again before it is answered. */
type RunTool<I extends Input, O extends z.ZodType> = {
  readonly effect: Exclude<Effect, 'read'>
  readonly run: (input: z.output<I>, call: Call) => Promise<RunResult<z.output<O>>>
  /**
   * It may begin while `call.started` is still on its way to the disk, and does nothing that anyone could see before
   * `call.enter` has resolved. Two waits for the disk become one.
   */
  readonly startsBeforeRecord?: true
  readonly read?: never
  readonly transact?: never
}

export type RunResult<T = unknown> = {
  readonly output: T
  /** Writes what the store keeps of the run, in the transaction that records its end. */
  readonly finalize?: (tx: Tx) => Promise<void>
}

/** Types a tool's functions by its own schemas; dispatch parses before it calls them. */
export const defineTool = <I extends Input, O extends z.ZodType>(tool: Tool<I, O>): Tool =>
  tool as unknown as Tool

/** An answer already in MCP's words, as from an upstream server: the MCP door sends it as it is. */
export class McpResult {
  readonly result: Readonly<Record<string, unknown>>

  constructor(result: Readonly<Record<string, unknown>>) {
    this.result = result
  }

  toJSON(): unknown {
    return this.result
  }
}

/** Returned by a `change` that refuses, though what it wrote stays: a policy that blocks still opens a question. */
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

/** Thrown by a tool to answer with a JSON-RPC error of its own, where MCP asks for one. */
export const rpcError = (code: number, message: string, data?: unknown): CoworkError =>
  new CoworkError('rpc_error', message, { details: { rpc_code: code, rpc_data: data } })
