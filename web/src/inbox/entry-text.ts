import { about, because, word } from '../shared/sentence.ts'
import type { EntryText } from '../shared/sentence.ts'

export const entryText: EntryText = {
  kinds: {
    proposal: 'decision',
    approval: 'decision',
    handoff: 'decision',
    override: 'decision',
  },
  sentences: {
    'proposal.created': (e) => ['Proposed', word(e, 'action'), ...about(e)],
    'approval.requested': (e) => ['Requested', word(e, 'action'), ...about(e)],
    'approval.approved': (e) => ['Approved', word(e, 'action'), ...about(e)],
    'approval.rejected': (e) => [
      'Rejected',
      word(e, 'action'),
      ...about(e),
      ...because(e, 'reason'),
    ],
    'approval.voted': (e) => ['Gave one approval for', word(e, 'action'), ...about(e)],
    'approval.held': (e) => ['Decided (can be undone):', word(e, 'action'), ...about(e)],
    'approval.undone': (e) => ['Undid the decision on', word(e, 'action'), ...about(e)],
    'approval.expired': (e) => ['No decision on', word(e, 'action'), ...about(e)],
    'approval.withdrawn': (e) => ['Withdrew', word(e, 'action'), ...about(e), ...because(e, 'why')],
    'approval.consumed': (e) => ['Executed', word(e, 'action'), ...about(e)],
    'approval.unknown': (e) => ['Lost the result of', word(e, 'action'), ...about(e)],
    'approval.redacted': () => ['Redacted stored approvals'],
    'override.recorded': (e) => ['Overrode', word(e, 'requester'), ...about(e)],
    'handoff.created': (e) => ['Handed work to a person:', word(e, 'action')],
    'handoff.resolved': (e) => [
      'Resolved a handoff of',
      word(e, 'requester'),
      ...because(e, 'reason'),
    ],
    'handoff.acknowledged': () => ['Acknowledged its handoff'],
    'handoff.reminded': (e) => ['Reminded people about a handoff of', word(e, 'requester')],
  },
}
