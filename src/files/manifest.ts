import type { Manifest } from '#base/module.ts'
import { filesConfig } from './config.ts'
import { filesErrors } from './errors.ts'

export const filesManifest = {
  name: 'files',
  errors: filesErrors,
  config: filesConfig,
  entries: {
    'workspace.made': 'the workspace of the agents was created',
    'workspace.imported': 'files that an earlier program left in the workspace were imported',
    'grant.requested': 'an agent asked for access to a folder or file',
    'grant.made': 'access was granted',
    'grant.revoked': 'access was revoked',
    'grant.repinned': 'a grant continues after its folder was replaced',
    'grant.baselined': 'a grant from before rows were recorded',
    'trash.purged': 'trash items were deleted permanently',
    'trash.reconciled': 'a file in the trash without a record was found',
    'versions.found': 'stored versions without a record were found',
    'versions.dropped': 'versions beyond their age or count were deleted',
  },
  guardsWrites: true,
  load: () => import('./module.ts'),
} as const satisfies Manifest
