import { agentsScreen } from './agents/screen.ts'
import { auditScreen } from './audit/screen.ts'
import { filesScreen } from './files/screen.ts'
import { inboxScreen } from './inbox/screen.ts'
import { policiesScreen } from './policies/screen.ts'
import { settingsScreen } from './settings/screen.ts'
import { workScreen } from './work/screen.ts'

/** All screens in the order of C1. A new screen needs a folder with a `screen.ts` and a line here. */
export const screens = [
  inboxScreen,
  agentsScreen,
  policiesScreen,
  filesScreen,
  workScreen,
  auditScreen,
  settingsScreen,
] as const
