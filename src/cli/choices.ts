/** Words that arguments choose from: here, so that the command line knows them before it loads what they mean. */

export const clientIds = [
  'claude-code',
  'codex',
  'gemini',
  'cursor',
  'vscode',
  'claude-desktop',
] as const

export const screens = ['audit', 'settings'] as const

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]
