import type { Manifest } from '#base/module.ts'
import { workConfig } from './config.ts'
import { workErrors } from './errors.ts'

export const workManifest = {
  name: 'work',
  errors: workErrors,
  config: workConfig,
  entries: {
    'work.added': 'an item was added',
    'work.changed': 'an item was changed',
    'work.moved': 'an item was moved',
    'work.removed': 'an item was removed',
    'work.claimed': 'a story was claimed',
    'work.renewed': 'the lease of a claimed story was renewed',
    'work.released': 'a claimed story was released',
    'work.lease_expired': 'the lease of a claimed story expired',
    'work.merged': 'edits of a work file were merged',
    'work.conflict_resolved': 'a conflict with a work file was resolved',
    'work.archived': 'ended sprints and old history were moved to archive files',
    'work.project_registered': 'a project was registered',
    'work.project_unregistered': 'a project was unregistered',
  },
  guardsWrites: true,
  load: () => import('./module.ts'),
} as const satisfies Manifest
