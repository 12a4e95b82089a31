/** Values of arguments and options: here, so that the command line does not load the modules that define them. */

export const clientIds = [
  'claude-code',
  'codex',
  'gemini',
  'cursor',
  'vscode',
  'claude-desktop',
] as const

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

export const risks = ['low', 'normal', 'high'] as const

/** Decisions on an access request (GR3), besides `until` with its time. */
export const grantChoices = [
  'file_once',
  'file',
  'folder',
  'folder_write',
  'folder_session',
] as const
export type GrantOption = (typeof grantChoices)[number]

export const grantPermissions = ['read', 'read-write', 'write'] as const
export const grantScopes = ['session', 'permanent'] as const

/** Work items (W9). */
export const itemKinds = ['story', 'backlog', 'sprint'] as const
export const storyStatuses = [
  'planned',
  'in_progress',
  'blocked',
  'in_review',
  'done',
  'dropped',
] as const
export type StoryStatus = (typeof storyStatuses)[number]
export const sprintStatuses = ['planned', 'active', 'reference', 'completed'] as const
export const priorities = ['urgent', 'high', 'medium', 'low'] as const
export const clearableFields = ['priority', 'estimate', 'theme', 'text'] as const
export const conflictSides = ['ours', 'theirs'] as const

export const searchScopes = ['workspace', 'granted', 'all'] as const
