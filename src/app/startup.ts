import type { Clock } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import { errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { StatePaths } from '#base/state.ts'
import type { Tool } from '#base/tool.ts'
import type { SharedKeys } from '#identity'
import type { McpFeature, Metrics, TaskSource } from '#server'

export type AppOptions = {
  readonly config: Config
  /** The configuration file, if outside the state directory. */
  readonly configFile?: string | undefined
  readonly paths: StatePaths
  /** The settings of upstream MCP servers, if not `mcp-settings.json` in the state directory (U1). */
  readonly mcpSettings?: string
  readonly version: string
  readonly log: Log
  /** Secret values that are redacted everywhere (I8). */
  readonly secrets?: readonly string[]
  readonly shared?: SharedKeys
  /** Takes a free port when another program listens on the configured one (RA10). */
  readonly allowFreePort?: boolean | undefined
  readonly now?: Clock
  /** Test-only: the random draw for an action, from 0 (checked) to 1 (not checked). */
  readonly draw?: (id: string) => number
  /** The folder of the built console. */
  readonly webFolder?: string
  /**
   * Prints a console link in the banner. Must be off if anyone but the owner can see the banner.
   */
  readonly consoleLink?: boolean
  /** The shell command for `cowork`: in the current terminal, and as an absolute argument list. */
  readonly command?: { readonly here: string; readonly anywhere: readonly string[] }
  /**
   * Test-only tools and features for the conformance suite; they use the same path as all others.
   */
  readonly fixture?: {
    readonly tools: readonly Tool[]
    readonly features: readonly McpFeature[]
    readonly tasks: TaskSource
  }
}

/** The context of every startup step. */
export type StartupContext = AppOptions & {
  readonly now: Clock
  readonly metrics: Metrics
  readonly address: PublicUrl
  readonly undo: CleanupStack
}

type PublicUrl = ReturnType<typeof createPublicUrl>

/** Creates the public URLs of the daemon. The port is final once the daemon listens. */
export function createPublicUrl({ port: configuredPort, tls, public_url }: Config['server']) {
  let port = configuredPort
  const here = () => `${tls ? 'https' : 'http'}://localhost:${port}`
  const consoleUrl = () => public_url?.replace(/\/+$/, '') ?? here()
  return {
    port: () => port,
    setPort(boundPort: number): void {
      port = boundPort
    },
    here,
    consoleUrl,
    inboxUrl: () => `${consoleUrl()}/inbox`,
  }
}

type CleanupStack = ReturnType<typeof createCleanupStack>

/** Creates a stack of cleanup steps, run newest first when startup fails or the system stops. */
export function createCleanupStack(log: Log) {
  const steps: (() => unknown)[] = []
  return {
    add(...more: (() => unknown)[]): void {
      steps.push(...more)
    },
    async all(): Promise<void> {
      for (const step of steps.splice(0).toReversed())
        try {
          await step()
        } catch (error) {
          log.error('cleanup step failed', { error: errorMessage(error) })
        }
    },
  }
}
