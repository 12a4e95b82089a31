/** Bounds on what an upstream server can cost the daemon. A server beyond one of them is disconnected. */
export const limits = {
  /** One JSON-RPC message over stdio, or one HTTP response. */
  messageBytes: 16 * 1024 * 1024,
  tools: 2000,
  listPages: 64,
  toolDefinitionBytes: 256 * 1024,
  connectTimeoutMs: 30_000,
  probeTimeoutMs: 5000,
  listTimeoutMs: 30_000,
  stderrLines: 500,
  stderrLineLength: 2000,
  firstRetryMs: 1000,
  maxRetryMs: 60_000,
  /** A connection that lasted this long starts again with the first delay. */
  stableMs: 60_000,
  latencySamples: 200,
} as const
