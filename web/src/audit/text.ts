import { plainString } from '../shared/plain.ts'
import type { Entry } from '../api/entry.ts'

/** Our own words, and words that someone else chose: those are shown as plain text (A13). */
export type Part = string | { readonly said: string; readonly isAside?: true }

type Speak = (entry: Entry) => readonly (Part | undefined)[]

const said = (text: unknown): Part | undefined =>
  typeof text === 'string' && text !== '' ? { said: text } : undefined
const field = (entry: Entry, name: string) => entry.data?.[name]
const word = (entry: Entry, name: string) => said(field(entry, name))
const about = (entry: Entry, before = 'on'): (Part | undefined)[] =>
  entry.subject ? [before, said(entry.subject)] : []
const because = (entry: Entry, name = 'message'): (Part | undefined)[] => {
  const why = field(entry, name)
  return typeof why === 'string' && why !== '' ? ['—', { said: why, isAside: true }] : []
}

/** `all`, or one agent, domain or server. */
function halted(entry: Entry): (Part | undefined)[] {
  const [kind = 'all', ...rest] = (entry.subject ?? 'all').split(':')
  return kind === 'all' ? ['all agents'] : [kind, said(rest.join(':'))]
}

const role = (entry: Entry) => {
  const given = field(entry, 'role')
  return typeof given === 'string' ? ['as', given] : []
}

const endings: Record<string, string> = {
  signed_out: 'Signed out',
  revoked: 'Revoked a session',
  person_removed: 'A session ended with its person',
}

const agentsOf = (entry: Entry) => {
  if (field(entry, 'person') !== undefined) return 'its owner for one call'
  return field(entry, 'agent_id') === '*' ? 'every agent' : (word(entry, 'agent_id') ?? 'an agent')
}

const failedLogin: Speak = (entry) => {
  const count = field(entry, 'count')
  const times =
    typeof count === 'number' && count > 1 ? `${count} wrong credentials` : 'A wrong credential'
  return [
    times,
    'from',
    said(entry.subject ?? 'an unknown address'),
    ...because({ ...entry, data: { message: entry.outcome?.replaceAll('_', ' ') } }),
  ]
}

/** What a change of the plan comes to: a new status, a comment, or the fields that are different. */
function workChanged(entry: Entry): (Part | undefined)[] {
  const fields: unknown = field(entry, 'fields')
  const names = Array.isArray(fields) ? fields.map(String) : []
  if (entry.outcome === 'done') return ['Finished', said(entry.subject)]
  if (names.includes('status'))
    return [
      'Set',
      said(entry.subject),
      'to',
      said(String(field(entry, 'status')).replaceAll('_', ' ')),
    ]
  if (names.join() === 'comments') return ['Commented on', said(entry.subject)]
  return [
    'Changed',
    said(entry.subject),
    ...(names.length > 0 ? ['—', { said: names.join(', '), isAside: true as const }] : []),
  ]
}

/** One line for each type: what happened, to what, and why if it did not. The actor stands beside it. */
const sentences: Record<string, Speak> = {
  'call.started': (e) => ['Started', word(e, 'tool'), ...about(e)],
  'call.done': (e) => [
    field(e, 'effect') === 'read' ? 'Called' : 'Ran',
    word(e, 'tool'),
    ...about(e),
  ],
  'call.failed': (e) => ['Tried', word(e, 'tool'), ...about(e), ...because(e)],
  'call.refused': (e) => ['Tried', word(e, 'tool'), ...about(e), ...because(e)],
  'action.logged': (e) => [
    field(e, 'phase') === 'verify' ? 'Verified' : 'Did',
    word(e, 'action'),
    ...about(e),
  ],
  'proposal.created': (e) => ['Proposed', word(e, 'action'), ...about(e)],
  'approval.requested': (e) => ['Asks to', word(e, 'action'), ...about(e)],
  'approval.approved': (e) => ['Approved', word(e, 'action'), ...about(e)],
  'approval.voted': (e) => ['Agreed to', word(e, 'action'), ...about(e)],
  'approval.held': (e) => ['Decided, and may undo,', word(e, 'action'), ...about(e)],
  'approval.undone': (e) => ['Undid the decision on', word(e, 'action'), ...about(e)],
  'approval.expired': (e) => ['Nobody decided on', word(e, 'action'), ...about(e)],
  'approval.withdrawn': (e) => ['Took back', word(e, 'action'), ...about(e), ...because(e, 'why')],
  'approval.unknown': (e) => ['Lost the result of', word(e, 'action'), ...about(e)],
  'override.recorded': (e) => ['Overrode', word(e, 'requester'), ...about(e)],
  'trust.set': (e) => ['Set the trust of', said(e.subject), ...because(e, 'reason')],
  'trust.ended': (e) => ['Ended the credit of', said(e.subject)],
  'trust.forgiven': (e) => ['Forgave', said(e.subject), ...because(e, 'reason')],
  'trust.client_seen': (e) => ['Saw', said(e.subject), 'act through another client'],
  'look_back.opened': (e) => ['Brought actions of', said(e.subject), 'to the inbox to look back'],
  'trust.converted': () => ['Recorded credit in place of evidence'],
  'trust.created': (e) => ['Met', said(e.subject), 'in a new domain'],
  'permission.granted': (e) => ['Allowed', said(e.subject), 'for longer'],
  'permission.used': (e) => ['Used one of the allowed uses of', said(e.subject)],
  'permission.revoked': () => ['Revoked a permission'],
  'trust.baselined': () => ['Recorded a trust score from before'],
  'permission.baselined': () => ['Recorded a permission from before'],
  'mapping.baselined': () => ['Recorded a policy mapping from before'],
  'grant.baselined': () => ['Recorded a grant from before'],
  'ledger.baselined': () => ['Began to record rows of the store'],
  'permission.redacted': () => ['Removed argument values from a standing permission'],
  'approval.redacted': () => ['Redacted stored approvals'],
  'approval.rejected': (e) => ['Rejected', word(e, 'action'), ...about(e), ...because(e, 'reason')],
  'approval.consumed': (e) => ['Carried out', word(e, 'action'), ...about(e)],
  'handoff.created': (e) => ['Handed work to a person, to', word(e, 'action')],
  'handoff.resolved': (e) => [
    'Answered a handoff of',
    word(e, 'requester'),
    ...because(e, 'reason'),
  ],
  'handoff.acknowledged': () => ['Read the answer to its handoff'],
  'handoff.reminded': (e) => ['Reminded people of a handoff of', word(e, 'requester')],
  'grant.requested': (e) => ['Asks for access to', said(e.subject)],
  'grant.made': (e) =>
    field(e, 'permission') === 'deny'
      ? ['Closed', said(e.subject), 'for good']
      : ['Opened', said(e.subject), 'to', agentsOf(e)],
  'grant.revoked': (e) => [
    'Revoked access to',
    said(e.subject),
    ...because({ ...e, data: { message: wordsOf(field(e, 'reason')) } }),
  ],
  'grant.repinned': (e) => ['Changed', said(e.subject), 'which stays open to', agentsOf(e)],
  'trash.purged': (e) => ['Deleted for good', said(e.subject)],
  'policy.loaded': (e) => ['Took the policies of cowork.yaml as version', said(e.subject)],
  'policy.saved': (e) => ['Saved the policies as version', said(e.subject), ...because(e, 'note')],
  'work.added': (e) => ['Added', said(e.subject)],
  'work.changed': workChanged,
  'work.removed': (e) => ['Removed', said(e.subject)],
  'work.moved': (e) => ['Moved', said(e.subject), 'to', word(e, 'to')],
  'work.claimed': (e) => ['Claimed', said(e.subject)],
  'work.renewed': (e) => ['Kept its claim of', said(e.subject)],
  'work.released': (e) => ['Released', said(e.subject)],
  'work.lease_expired': (e) => [word(e, 'agent'), 'let its claim of', said(e.subject), 'run out'],
  'work.merged': (e) => [
    'Took over what was edited in the file of',
    said(e.subject),
    ...(e.outcome === 'conflicts' ? ['with conflicts'] : []),
  ],
  'work.conflict_resolved': (e) => ['Settled a conflict about', said(e.subject)],
  'work.archived': (e) => ['Archived', said(e.subject)],
  'work.project_registered': (e) => ['Registered project', said(e.subject)],
  'work.project_unregistered': (e) => ['Unregistered project', said(e.subject)],
  'agent.added': (e) => ['Added agent', said(e.subject)],
  'agent.changed': (e) => ['Changed the tools of agent', said(e.subject)],
  'agent.rotated': (e) => ['Gave agent', said(e.subject), 'a new token'],
  'agent.revoked': (e) => ['Revoked agent', said(e.subject)],
  'person.invited': (e) => ['Invited', word(e, 'name') ?? said(e.subject), ...role(e)],
  'person.joined': (e) => [word(e, 'name') ?? said(e.subject), 'joined', ...role(e)],
  'person.removed': (e) => ['Removed', word(e, 'name') ?? said(e.subject)],
  'role.changed': (e) => ['Made', said(e.subject), 'a', word(e, 'to')],
  'invitation.withdrawn': (e) => ['Withdrew the invitation of', word(e, 'name')],
  'passkey.added': (e) => ['Added passkey', word(e, 'name')],
  'passkey.removed': (e) => ['Removed passkey', word(e, 'name')],
  'passkey.asserted': () => ['Confirmed with a passkey'],
  'passkey.refused': () => ['A copied passkey was refused'],
  'session.opened': () => ['Opened the console'],
  'session.ended': (e) => [endings[String(field(e, 'reason'))] ?? 'A session ended'],
  'link.made': (e) => ['Made a link that opens the console as', said(e.subject)],
  'auth.failed': failedLogin,
  'request.refused': (e) => ['Refused a request from', said(e.subject), ...because(e, 'message')],
  'halt.set': (e) => ['Halted', ...halted(e), ...because(e, 'reason')],
  'halt.lifted': (e) => ['Resumed', ...halted(e)],
  'daemon.started': (e) => ['cowork', word(e, 'version'), 'started'],
  'daemon.stopped': () => ['cowork stopped'],
  'payload.erased': (e) => [
    'Erased the content of entry',
    said(e.subject),
    ...because(e, 'reason'),
  ],
}

export function textOf(entry: Entry): Part[] {
  const speak = sentences[entry.type] ?? otherwise
  return speak(entry).filter((part) => part !== undefined)
}

/** `plan.voided` reads “Plan voided” until it has a line of its own. */
const otherwise: Speak = (entry) => {
  const words = entry.type.replaceAll(/[._]/g, ' ')
  return [words.charAt(0).toUpperCase() + words.slice(1), ...about(entry, ':')]
}

/** The same as one string, for titles and tips; nothing hides in it either. */
export const plainText = (entry: Entry): string =>
  textOf(entry)
    .map((part) => (typeof part === 'string' ? part : plainString(part.said)))
    .join(' ')
    .replaceAll(' :', ':')

export type Outcome = 'done' | 'refused' | 'failed'

/** How it ended, for entries that are an end. */
export function outcomeOf({ type }: Entry): Outcome | undefined {
  if (type === 'call.done') return 'done'
  if (type === 'auth.failed' || type.endsWith('.refused')) return 'refused'
  return type.endsWith('.failed') ? 'failed' : undefined
}

export type EntryKind =
  | 'call'
  | 'action'
  | 'decision'
  | 'agent'
  | 'person'
  | 'access'
  | 'halt'
  | 'resume'
  | 'system'
  | 'other'

const kinds: Record<string, EntryKind> = {
  call: 'call',
  action: 'action',
  proposal: 'decision',
  approval: 'decision',
  handoff: 'decision',
  override: 'decision',
  trust: 'decision',
  permission: 'decision',
  policy: 'decision',
  work: 'action',
  grant: 'access',
  agent: 'agent',
  person: 'person',
  invitation: 'person',
  role: 'person',
  passkey: 'access',
  session: 'access',
  link: 'access',
  auth: 'access',
  daemon: 'system',
  ledger: 'system',
  payload: 'system',
}

export function kindOf({ type }: Entry): EntryKind {
  if (type === 'halt.lifted') return 'resume'
  const [noun = ''] = type.split('.')
  return noun === 'halt' ? 'halt' : (kinds[noun] ?? 'other')
}

const wordsOf = (said: unknown) => (typeof said === 'string' ? said.replaceAll('_', ' ') : '')
