import { addSubject, addReason, quoteField } from '../shared/sentence.ts'
import type { EntryText } from '../shared/sentence.ts'

export const entryText: EntryText = {
  kinds: {
    proposal: 'decision',
    approval: 'decision',
    handoff: 'decision',
    override: 'decision',
  },
  sentences: {
    'proposal.created': (e) => ['Proposed', quoteField(e, 'action'), ...addSubject(e)],
    'approval.requested': (e) => ['Requested', quoteField(e, 'action'), ...addSubject(e)],
    'approval.approved': (e) => ['Approved', quoteField(e, 'action'), ...addSubject(e)],
    'approval.rejected': (e) => [
      'Rejected',
      quoteField(e, 'action'),
      ...addSubject(e),
      ...addReason(e, 'reason'),
    ],
    'approval.voted': (e) => ['Gave one approval for', quoteField(e, 'action'), ...addSubject(e)],
    'approval.held': (e) => ['Decided (can be undone):', quoteField(e, 'action'), ...addSubject(e)],
    'approval.undone': (e) => ['Undid the decision on', quoteField(e, 'action'), ...addSubject(e)],
    'approval.expired': (e) => ['No decision on', quoteField(e, 'action'), ...addSubject(e)],
    'approval.withdrawn': (e) => [
      'Withdrew',
      quoteField(e, 'action'),
      ...addSubject(e),
      ...addReason(e, 'why'),
    ],
    'approval.consumed': (e) => ['Executed', quoteField(e, 'action'), ...addSubject(e)],
    'approval.unknown': (e) => ['Lost the result of', quoteField(e, 'action'), ...addSubject(e)],
    'approval.redacted': () => ['Redacted stored approvals'],
    'override.recorded': (e) => ['Overrode', quoteField(e, 'requester'), ...addSubject(e)],
    'handoff.created': (e) => ['Handed work to a person:', quoteField(e, 'action')],
    'handoff.resolved': (e) => [
      'Resolved a handoff of',
      quoteField(e, 'requester'),
      ...addReason(e, 'reason'),
    ],
    'handoff.acknowledged': () => ['Acknowledged its handoff'],
    'handoff.reminded': (e) => ['Reminded people about a handoff of', quoteField(e, 'requester')],
  },
}
