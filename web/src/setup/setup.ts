/** The setup steps (C9). */
export const steps = [
  { id: 'workspace', name: 'Workspace' },
  { id: 'folders', name: 'Folders' },
  { id: 'clients', name: 'Clients' },
  { id: 'notices', name: 'Notifications' },
  { id: 'practice', name: 'Practice' },
] as const
export type StepId = (typeof steps)[number]['id']

export type SetupView = { readonly step?: StepId }

/** Parses search parameters; invalid values are ignored, so that no link fails. */
export function parseSetupView(search: Record<string, unknown>): SetupView {
  const found = steps.find(({ id }) => id === search['step'])
  return found && found.id !== 'workspace' ? { step: found.id } : {}
}

/** Returns the next step; undefined after the last. */
export const nextStep = (step: StepId): StepId | undefined =>
  steps[steps.findIndex(({ id }) => id === step) + 1]?.id

/** Common folders; only existing ones are offered. */
export const suggestedFolders = ['Documents', 'Downloads', 'Desktop', 'Projects', 'Pictures']

export const defaultWorkspace = '~/Downloads/AI-Workspace/'

/** Whether the workspace is at the default location of any home folder. */
export const isDefault = (path: string): boolean =>
  /[/\\]Downloads[/\\]AI-Workspace[/\\]?$/.test(path)
