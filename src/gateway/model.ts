/** A tool as its server lists it, unchanged (U2). */
export type RawTool = {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined
  readonly annotations?: ToolAnnotations | undefined
  readonly icons?: unknown
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
}

type ToolAnnotations = {
  readonly title?: string | undefined
  readonly readOnlyHint?: boolean | undefined
  readonly destructiveHint?: boolean | undefined
  readonly idempotentHint?: boolean | undefined
  readonly openWorldHint?: boolean | undefined
}

/**
 * - `connecting`: the first attempt, or a retry after a failure
 * - `ready`: answers calls
 * - `failed`: waits for the next retry
 * - `disabled`: switched off in the settings
 */
export type ServerState = 'connecting' | 'ready' | 'failed' | 'disabled'

export type ServerStatus = {
  readonly state: ServerState
  readonly transport: 'stdio' | 'sse' | 'streamableHttp'
  readonly lastError?: string
  readonly authRequired?: boolean
  readonly protocolVersion?: string
  /** Median and 95th percentile of the last calls, in milliseconds. */
  readonly latency?: { readonly p50: number; readonly p95: number }
  readonly callCount: number
  readonly errorCount: number
  readonly restartCount: number
  readonly retryAt?: number
}
