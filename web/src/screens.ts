import { agentsScreen } from './agents/screen.ts'
import { auditScreen } from './audit/screen.ts'
import { filesScreen } from './files/screen.ts'
import { inboxScreen } from './inbox/screen.ts'
import { policiesScreen } from './policies/screen.ts'
import { settingsScreen } from './settings/screen.ts'
import { workScreen } from './work/screen.ts'

/** Every screen of the console. A new one is a folder with a `screen.ts` and a line here, in the order of C1. */
export const screens = [
  inboxScreen,
  agentsScreen,
  policiesScreen,
  filesScreen,
  workScreen,
  auditScreen,
  settingsScreen,
] as const
