import type { CallAttempt, Verdict } from '#base/call-check.ts'
import { sanitizeText } from '#base/sanitize.ts'

const maxIntentLength = 500

/** Returns why the agent calls, from `_cowork_metadata.intent` (seed 001's sentry proxy). */
export function readIntent(input: Readonly<Record<string, unknown>>): string | undefined {
  const metadata = input['_cowork_metadata']
  if (typeof metadata !== 'object' || metadata === null || !('intent' in metadata)) return undefined
  const { intent } = metadata
  if (typeof intent !== 'string' || intent.trim() === '') return undefined
  return sanitizeText(intent.trim(), maxIntentLength)
}

type Deps = {
  readonly sentry: { readonly enabled: boolean; readonly enforcement: 'strict' | 'warn' }
  readonly isUpstream: (toolset: string) => boolean
  /** Logs a call without intent when calls are not refused for it. */
  readonly warn: (tool: string, caller: string) => void
}

/** Asks every agent's call of an upstream tool for its intent, where `sentry.enabled` says so (U5). */
export const checkIntent =
  ({ sentry, isUpstream, warn }: Deps) =>
  ({ tool, caller, input }: Pick<CallAttempt, 'tool' | 'caller' | 'input'>): Verdict => {
    const isAsked = sentry.enabled && caller.kind === 'agent' && isUpstream(tool.toolset)
    if (!isAsked || readIntent(input) !== undefined) return { mode: 'act' }
    if (sentry.enforcement === 'warn') {
      warn(tool.name, caller.id)
      return { mode: 'act' }
    }
    return {
      mode: 'refuse',
      code: 'rpc_error',
      message: 'COWORK_ERR: Action Attribution Required. Missing intent.',
      hint: 'Repeat the call with _cowork_metadata: {"intent": "why you do it"}.',
      details: { rpc_code: -32602 },
    }
  }
