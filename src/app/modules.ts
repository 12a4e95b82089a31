import { approvalsManifest } from '../approvals/manifest.ts'
import { dispatchManifest } from '../dispatch/manifest.ts'
import { filesManifest } from '../files/manifest.ts'
import { governanceManifest } from '../governance/manifest.ts'
import { identityManifest } from '../identity/manifest.ts'
import { ledgerManifest } from '../ledger/manifest.ts'
import { serverManifest } from '../server/manifest.ts'
import { workManifest } from '../work/manifest.ts'

/**
 * Every module, in the order in which they start. A new module is a folder and a line here (0040). The manifests are
 * imported directly, not through the modules: every command reads them and must not load the modules.
 */
export const modules = [
  ledgerManifest,
  identityManifest,
  approvalsManifest,
  governanceManifest,
  filesManifest,
  workManifest,
  dispatchManifest,
  serverManifest,
]

/** The modules whose tools check their own writes (Y9). */
export const guardingModules: readonly string[] = modules.flatMap((module) =>
  'guardsWrites' in module ? [module.name] : [],
)

/** The toolsets that trust judges only where a mapping asks for it. */
export const guardedToolsets: readonly string[] = [
  ...guardingModules,
  // Reserved: no agent may take the name before the module exists.
  'jobs',
]
