/** The first steps in a fresh console (C9). */
export const steps = [
  { id: 'workspace', name: 'Workspace' },
  { id: 'folders', name: 'Folders' },
  { id: 'clients', name: 'Clients' },
  { id: 'notices', name: 'Notifications' },
  { id: 'practice', name: 'Practice' },
] as const
export type StepId = (typeof steps)[number]['id']

export type WelcomeView = { readonly step?: StepId }

/** Reads the address; what it cannot mean is left out, so that no link leads to an error. */
export function parseSetupView(search: Record<string, unknown>): WelcomeView {
  const found = steps.find(({ id }) => id === search['step'])
  return found && found.id !== 'workspace' ? { step: found.id } : {}
}

/** The one after it; nothing after the last. */
export const nextStep = (step: StepId): StepId | undefined =>
  steps[steps.findIndex(({ id }) => id === step) + 1]?.id

/** Folders that people often want to show; none is offered that is not there. */
export const suggestedFolders = ['Documents', 'Downloads', 'Desktop', 'Projects', 'Pictures']

export const defaultWorkspace = '~/Downloads/AI-Workspace/'

/** Whether a workspace lies where it does by default, whoever's home that is. */
export const isDefault = (path: string): boolean =>
  /[/\\]Downloads[/\\]AI-Workspace[/\\]?$/.test(path)
