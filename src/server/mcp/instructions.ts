import type { View } from './server.ts'

const parts = [
  {
    toolset: 'files',
    text: 'Keep your files in the workspace: relative paths lie there. Other paths (full, or from ~/) are the user’s: call request_grant with a reason, then again until a person has decided. delete_file moves to the trash, and files that are changed keep versions.',
  },
  {
    toolset: 'cowork',
    text: 'Before an act with consequences call cowork_propose and follow its answer.',
  },
]

const always =
  'Where a call needs approval, go on with something else and repeat it later. A refusal names the next step.'

/** How to work here, told to every model that comes: short, for it stays in its context. */
export const instructionsFor = ({ toolset }: Pick<View, 'toolset'>): string =>
  [...parts.filter((part) => toolset === undefined || part.toolset === toolset), { text: always }]
    .map(({ text }) => text)
    .join(' ')
