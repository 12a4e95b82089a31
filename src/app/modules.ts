import { approvalsManifest } from '../approvals/manifest.ts'
import { dispatchManifest } from '../dispatch/manifest.ts'
import { filesManifest } from '../files/manifest.ts'
import { governanceManifest } from '../governance/manifest.ts'
import { gatewayManifest } from '../gateway/manifest.ts'
import { identityManifest } from '../identity/manifest.ts'
import { ledgerManifest } from '../ledger/manifest.ts'
import { serverManifest } from '../server/manifest.ts'
import { workManifest } from '../work/manifest.ts'

/**
 * All modules in startup order. A new module is a folder and a line here (ADR 0040). The manifests
 * are imported directly, because every command reads them and must not load the modules.
 */
export const modules = [
  ledgerManifest,
  identityManifest,
  approvalsManifest,
  governanceManifest,
  filesManifest,
  workManifest,
  gatewayManifest,
  dispatchManifest,
  serverManifest,
]

/** The modules whose tools check their own writes (Y9). */
export const guardingModules: readonly string[] = modules.flatMap((module) =>
  'guardsWrites' in module ? [module.name] : [],
)

/** The toolsets that trust judges only if a mapping requires it. */
export const guardedToolsets: readonly string[] = [
  ...guardingModules,
  // Reserved before the module exists.
  'jobs',
]
