/** Words that arguments choose from: here, so that the command line knows them before it loads what they mean. */

export const clientIds = [
  'claude-code',
  'codex',
  'gemini',
  'cursor',
  'vscode',
  'claude-desktop',
] as const

export const screens = ['inbox', 'audit', 'settings'] as const

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

export const overrideTypes = [
  'agent_wrong',
  'missing_context',
  'edge_case',
  'human_preference',
  'policy_change',
] as const
export type OverrideType = (typeof overrideTypes)[number]

export const severities = ['low', 'medium', 'high', 'critical'] as const
export type Severity = (typeof severities)[number]

export const approvalKinds = ['proposal', 'call', 'permission', 'spot_check', 'handoff'] as const
