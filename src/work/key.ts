import type { Caller } from '#base/caller.ts'

const refusal = {
  code: 'auth_required',
  message: 'Work tools need WORKSYNC_API_KEY or another valid token.',
  hint: 'Send `Authorization: Bearer <key>`, pass `agent_token`, or set COWORK_TOKEN for `cowork mcp`.',
} as const

/** With WORKSYNC_API_KEY set, work is for callers with the key or another valid token, at every endpoint (W2). */
export const keyRefusal = ({ verified, kind }: Caller, isKeySet: boolean) =>
  isKeySet && !verified && kind !== 'system' ? refusal : undefined
