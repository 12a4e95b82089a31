import type { Manifest } from '#base/module.ts'
import { approvalsConfig } from './config.ts'
import { approvalsErrors } from './errors.ts'

export const approvalsManifest = {
  name: 'approvals',
  errors: approvalsErrors,
  config: approvalsConfig,
  entries: {
    'approval.requested': 'a call is pending: a person decides first',
    'approval.approved': 'a person approved',
    'approval.rejected': 'a person rejected',
    'approval.voted': 'one of several required approvals was given',
    'approval.held': 'a decision is in its undo window',
    'approval.undone': 'a decision was undone in its undo window',
    'approval.expired': 'nobody decided in time',
    'approval.withdrawn':
      'the approval ended without a decision or did not run; `why` gives the reason',
    'approval.unknown': 'an approved call started and cowork stopped before its result',
    'approval.redacted': 'an upgrade removed plain arguments from the store',
    'chat.bound': 'a chat was linked to a person',
    'chat.unbound': 'a chat was unlinked from its person',
    'delivery.failed': 'a notification could not be delivered',
    'delivery.retried': 'a failed notification is sent again',
    'halt.set': 'agents were halted',
    'halt.lifted': 'halted agents were resumed',
  },
  load: () => import('./module.ts'),
} as const satisfies Manifest
