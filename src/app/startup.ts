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
  /** Where it was read from, if not from the state folder. */
  readonly configFile?: string | undefined
  readonly paths: StatePaths
  readonly version: string
  readonly log: Log
  /** Secret values in memory, so that they are redacted wherever they turn up (I8). */
  readonly secrets?: readonly string[]
  readonly shared?: SharedKeys
  /** Takes a free port when another program listens on the configured one (RA10). */
  readonly allowFreePort?: boolean | undefined
  readonly now?: Clock
  /** Test-only: what chance says of an action, from 0 (checked) to 1 (not checked). */
  readonly draw?: (id: string) => number
  /** Where the built console lies. */
  readonly webFolder?: string
  /** Whether the banner opens the console. Not where it passes through other hands than the person's. */
  readonly consoleLink?: boolean
  /** What a person writes for `cowork`: in the terminal of the banner, and, word by word, in any other. */
  readonly command?: { readonly here: string; readonly anywhere: readonly string[] }
  /** Test-only tools and features, for the conformance suite; they take the same path as all others. */
  readonly fixture?: {
    readonly tools: readonly Tool[]
    readonly features: readonly McpFeature[]
    readonly tasks: TaskSource
  }
}

/** What every step of the start is given. */
export type StartupContext = AppOptions & {
  readonly now: Clock
  readonly metrics: Metrics
  readonly address: Address
  readonly undo: Undo
}

type Address = ReturnType<typeof createPublicUrl>

/** Where people and clients find the daemon. Which port it has is known for sure once it listens. */
export function createPublicUrl({ port: asked, tls, public_url }: Config['server']) {
  let port = asked
  const here = () => `${tls ? 'https' : 'http'}://localhost:${port}`
  const consoleUrl = () => public_url?.replace(/\/+$/, '') ?? here()
  return {
    port: () => port,
    setPort(found: number): void {
      port = found
    },
    here,
    consoleUrl,
    inboxUrl: () => `${consoleUrl()}/inbox`,
  }
}

type Undo = ReturnType<typeof createCleanupStack>

/** What is undone, newest first, when a later step of the start fails or the system ends. */
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
          log.error('a part did not end cleanly', { error: errorMessage(error) })
        }
    },
  }
}
