/** The first part of the path of each screen, in the order of C1. The daemon serves these paths, and `cowork open` opens them. */
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
