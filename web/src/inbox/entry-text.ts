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
    'approval.requested': (e) => ['Asks to', word(e, 'action'), ...about(e)],
    'approval.approved': (e) => ['Approved', word(e, 'action'), ...about(e)],
    'approval.rejected': (e) => [
      'Rejected',
      word(e, 'action'),
      ...about(e),
      ...because(e, 'reason'),
    ],
    'approval.voted': (e) => ['Agreed to', word(e, 'action'), ...about(e)],
    'approval.held': (e) => ['Decided, and may undo,', word(e, 'action'), ...about(e)],
    'approval.undone': (e) => ['Undid the decision on', word(e, 'action'), ...about(e)],
    'approval.expired': (e) => ['Nobody decided on', word(e, 'action'), ...about(e)],
    'approval.withdrawn': (e) => [
      'Took back',
      word(e, 'action'),
      ...about(e),
      ...because(e, 'why'),
    ],
    'approval.consumed': (e) => ['Carried out', word(e, 'action'), ...about(e)],
    'approval.unknown': (e) => ['Lost the result of', word(e, 'action'), ...about(e)],
    'approval.redacted': () => ['Redacted stored approvals'],
    'override.recorded': (e) => ['Overrode', word(e, 'requester'), ...about(e)],
    'handoff.created': (e) => ['Handed work to a person, to', word(e, 'action')],
    'handoff.resolved': (e) => [
      'Answered a handoff of',
      word(e, 'requester'),
      ...because(e, 'reason'),
    ],
    'handoff.acknowledged': () => ['Read the answer to its handoff'],
    'handoff.reminded': (e) => ['Reminded people of a handoff of', word(e, 'requester')],
  },
}
