/** The first path segment of each screen, in the order of C1. The daemon serves these paths; `cowork open` opens them. */
export const screens = [
  'inbox',
  'agents',
  'policies',
  'files',
  'work',
  'audit',
  'settings',
] as const
export type ScreenName = (typeof screens)[number]
