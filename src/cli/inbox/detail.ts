import type { ToolResults } from '#wire'
import { isCheck } from '../approvals.ts'
import type { Check, ApprovalDetail, GrantRequest, Handoff, ApprovalItem } from '../approvals.ts'
import { formatBytes, pluralize, formatMinute, sanitize, sanitizeLines } from '../output.ts'
import { bold, dim, formatTimeLeft, styled, section, formatDuration } from './lines.ts'
import type { Line, Span } from './lines.ts'

/** The values in a JSON value by their dotted path; each as JSON, which shows what is a text and what is not. */
function flattenJson(value: unknown, path = ''): [path: string, value: string][] {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0)
    return [[path, sanitize(JSON.stringify(value) ?? 'null')]]
  return Object.entries(value).flatMap(([name, inner]) =>
    flattenJson(inner, path === '' ? name : `${path}.${name}`),
  )
}

/** What is asked for, and where it really lies: a link may lead elsewhere than its name says. */
function accessLines({
  path,
  real,
  permission,
  is_folder: isFolder,
  missing,
  folder,
  warning,
}: GrantRequest): Line[] {
  return [
    ...(warning === undefined ? [] : [[styled('red', sanitize(warning))]]),
    [`${permission} of the ${isFolder ? 'folder' : 'file'} ${sanitize(real)}`],
    ...(path === real ? [] : [[dim(`asked for as ${sanitize(path)}`)]]),
    ...(missing ? [[styled('yellow', 'nothing is there now')]] : []),
    ...(isFolder || folder === null ? [] : [[dim(`“folder” means ${sanitize(folder)}`)]]),
  ]
}

function insideLines({ inside }: GrantRequest): Line[] {
  if (!inside) return []
  const { files, folders, bytes, sample, capped } = inside
  const most = capped ? 'at least ' : ''
  const more = files + folders - sample.length
  return [
    [
      `${most}${pluralize(files, 'file')} in ${pluralize(folders, 'folder')}, ${formatBytes(bytes)}`,
    ],
    ...sample.map((name): Line => ['• ', sanitize(name)]),
    ...(more > 0 ? [[dim(`and ${most}${more} more`)]] : []),
  ]
}

const sensitiveLines = ({ sensitive }: GrantRequest): Line[] =>
  sensitive.map((name) => [styled('red', '! '), sanitize(name)])

const overdueLines = ({ overdue, reminded }: Handoff): Line[] =>
  overdue
    ? [
        [
          styled('red', 'overdue'),
          reminded > 0
            ? `: people were reminded ${reminded === 1 ? 'once' : `${reminded} times`}`
            : '',
        ],
      ]
    : []

const attemptLines = ({ attempted_actions: tried }: Handoff): Line[] =>
  tried.flatMap((one): Line[] =>
    typeof one === 'string'
      ? sanitizeLines(one).map((text, at) => [at === 0 ? '• ' : '  ', text])
      : [['• ', sanitize(JSON.stringify(one) ?? 'null')]],
  )

function contextLines({ context, proposal_id: proposal }: Handoff): Line[] {
  const isEmpty =
    context === null || (typeof context === 'object' && Object.keys(context).length === 0)
  const lines: Line[] = isEmpty
    ? []
    : flattenJson(context).map(([path, value]) => [
        path === '' ? value : `${sanitize(path)}: ${value}`,
      ])
  return proposal === null ? lines : [...lines, [`about proposal ${sanitize(proposal)}`]]
}

/** What the agent did last in that domain, oldest first (H5). */
const recentLines = ({ packet }: Handoff): Line[] =>
  packet.recent.map(({ seq, at, type, action, subject, outcome }) => [
    dim(`${formatMinute(at)} `),
    sanitize(
      [action ?? type, subject, outcome && `→ ${outcome}`, `(entry ${seq})`]
        .filter((part) => part)
        .join(' '),
    ),
  ])

/** One that was never asked back about and not answered has nothing to tell here (H6). */
const threadLines = ({ thread }: Handoff): Line[] =>
  thread.length < 2 && thread.every(({ resolution }) => resolution === undefined)
    ? []
    : thread.flatMap(({ at, reason, resolution, hand_back, instructions }): Line[] => [
        [dim(`${formatMinute(at)} `), `asked: ${sanitize(reason)}`],
        ...(resolution === undefined
          ? []
          : [
              [
                `  answered: ${sanitize(resolution)}`,
                dim(hand_back ? ' (handed back)' : ' (not handed back)'),
              ],
            ]),
        ...(instructions === undefined ? [] : [[`  instructions: ${sanitize(instructions)}`]]),
      ])

/** What became of a handoff and, where it was decided in the same act, of its proposal (H2, H6). */
export function formatHandoffResult({
  agent_id,
  hand_back,
  hand_back_refused,
  proposal,
}: ToolResults['cowork_resolve_handoff']): string {
  const trust = proposal?.trust
  const moved = trust ? `, trust ${score(trust.from)} → ${score(trust.to)}` : ''
  const decided = proposal ? ` Its proposal is ${proposal.status}${moved}.` : ''
  if (hand_back_refused)
    return sanitize(`Answered, not handed back: ${hand_back_refused.message}${decided}`)
  return sanitize(`Answered${hand_back ? ` and handed back to ${agent_id}` : ''}.${decided}`)
}

const modeLook = { act: 'green', suggest: 'yellow', escalate: 'red' } as const
const modeIcon = { act: '●', suggest: '◆', escalate: '▲' } as const

/** A mode by colour and icon and word, so that none of them is needed to tell (C14). */
export const modeSpan = ({ mode }: Pick<ApprovalItem, 'mode'>): Span =>
  styled(modeLook[mode], `${modeIcon[mode]} ${mode}`)

export const formatKind = (kind: string): string => sanitize(kind).replaceAll('_', ' ')
export const score = (value: number | null): string => (value === null ? '–' : value.toFixed(2))

/** Everything a person decides by: why it was asked first, then what, then what follows (A8, A13). */
export function detailLines(detail: ApprovalDetail, now: number): Line[] {
  return [
    [bold(sanitize(detail.summary) || formatKind(detail.kind))],
    [modeSpan(detail), dim(` · ${formatKind(detail.kind)} · ${detail.risk} risk · `), detail.id],
    statusLine(detail, now),
    ...conflictLines(detail),
    ...section('Why you are asked', whyLines(detail)),
    ...(detail.check ? section('What each answer does', answerLines(detail.check)) : []),
    ...askedSections(detail),
    ...(detail.check ? section('On record', recordLines(detail.check)) : []),
    ...section('Who asks', whoLines(detail, now)),
    ...section('Effect on trust', effectLines(detail)),
    ...section('Decided before on the same target', historyLines(detail)),
  ]
}

/** The active policy forbids what is asked: the person reads it before everything else. */
const conflictLines = ({ policy_conflict: conflict }: ApprovalDetail): Line[] =>
  conflict
    ? [
        [
          styled(
            'red',
            `! Blocked by the active policy${conflict.policy === null ? '' : ` ${sanitize(conflict.policy)}`}: `,
          ),
          sanitize(conflict.message),
        ],
      ]
    : []

function askedSections(detail: ApprovalDetail): Line[] {
  if (detail.handoff) return handoffSections(detail, detail.handoff)
  const said = section('The agent says', saidLines(detail))
  if (detail.grant)
    return [
      ...section('What it wants', accessLines(detail.grant)),
      ...section('What is inside', insideLines(detail.grant)),
      ...section('Looks sensitive', sensitiveLines(detail.grant)),
      ...said,
    ]
  return [
    ...section(`Change to ${sanitize(detail.target) || 'no target'}`, changeLines(detail)),
    ...said,
  ]
}

const handoffSections = (detail: ApprovalDetail, handoff: Handoff): Line[] => [
  ...section('The agent says', saidLines(detail)),
  ...section('What it tried', attemptLines(handoff)),
  ...section('What you need to know', contextLines(handoff)),
  ...section('What it did last', recentLines(handoff)),
  ...section('Asked and answered', threadLines(handoff)),
]

const answerLines = ({ consequences: { confirm, wrong, differently } }: Check): Line[] => [
  [bold('Confirm: '), sanitize(confirm)],
  [bold('Mark as wrong: '), sanitize(wrong)],
  [bold('I would have done it differently: '), sanitize(differently)],
  [bold('Skip: '), 'It is closed and counts for nothing.'],
]

const recordLines = ({ record }: Check): Line[] =>
  record.map(({ seq, at, type, outcome }) => [
    dim(`${formatMinute(at)} `),
    `entry ${seq}, ${sanitize(type)}${outcome === undefined ? '' : `: ${sanitize(outcome)}`}`,
  ])

export function statusLine(item: ApprovalItem, now: number): Line {
  const { status, held, approvers, decided_by, decided_at, channel, reason, expires_at } = item
  if (held)
    return [
      styled('cyan', `${heldWord(item, held.decision)} in `),
      `${formatTimeLeft(Date.parse(held.until) - now)}, by ${sanitize(held.by)}: it can still be undone`,
    ]
  if (status !== 'pending') {
    const by = decided_by ? ` by ${sanitize(decided_by)}` : ''
    const via = channel ? ` (${sanitize(channel)})` : ''
    const at = decided_at ? ` ${formatDuration(now - Date.parse(decided_at))} ago` : ''
    return [
      `${capital(formatStatus(item))}${by}${via}${at}${reason ? `: ${sanitize(reason)}` : ''}`,
    ]
  }
  const time = expires_at ? `, ${formatTimeLeft(Date.parse(expires_at) - now)} left` : ''
  const { needed, given } = approvers
  const votes =
    needed > 1
      ? `, ${given.length} of ${needed} approved${given.length > 0 ? ` (${sanitize(given.join(', '))})` : ''}`
      : ''
  return [`Waits for ${formatDuration(now - Date.parse(item.created_at))}${time}${votes}`]
}

const heldWord = (item: ApprovalItem, decision: 'approve' | 'reject'): string =>
  isCheck(item) ? 'Answers' : decision === 'approve' ? 'Approves' : 'Denies'

/** How it ended, in a word: nobody approves a handoff, or what is done already. */
export function formatStatus({ kind, status }: Pick<ApprovalItem, 'kind' | 'status'>): string {
  if (kind === 'spot_check')
    return status === 'approved' ? 'confirmed' : status === 'rejected' ? 'not confirmed' : status
  if (kind !== 'handoff') return status
  return status === 'approved' ? 'answered' : status === 'consumed' ? 'answered and read' : status
}

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

function whyLines({ why, handoff }: ApprovalDetail): Line[] {
  const { policy_id, policy_description, policy_version, high_risk_fields } = why
  return [
    [sanitize(why.text)],
    ...(handoff ? overdueLines(handoff) : []),
    ...why.rules.map(({ rule_id, field, severity, reason }): Line => [
      `rule ${sanitize(rule_id)} on ${sanitize(field)}: ${sanitize(reason)} `,
      dim(`(${sanitize(severity)})`),
    ]),
    ...(high_risk_fields.length > 0
      ? [[`high-risk fields: ${sanitize(high_risk_fields.join(', '))}`]]
      : []),
    ...(policy_id === null
      ? []
      : [
          [
            `policy ${sanitize(policy_id)}${policy_description ? `: ${sanitize(policy_description)}` : ''} `,
            dim(`(version ${sanitize(policy_version).slice(0, 12)})`),
          ],
        ]),
  ]
}

function changeLines({ change, before, approved_change }: ApprovalDetail): Line[] {
  const known = new Map(flattenJson(before))
  const lines = flattenJson(change).flatMap(([path, value]): Line[] => {
    const old = known.get(path)
    return [
      ...(old === undefined || old === value
        ? []
        : [[styled('red', `- ${sanitize(path)}: ${old}`)]]),
      [styled('green', `${path === '' ? '' : `+ ${sanitize(path)}: `}${value}`)],
    ]
  })
  return approved_change === undefined
    ? lines
    : [
        ...lines,
        ['approved instead:'],
        ...flattenJson(approved_change).map(([path, value]): Line => [
          `  ${sanitize(path)}: ${value}`,
        ]),
      ]
}

const saidLines = ({ reasoning }: ApprovalDetail): Line[] =>
  reasoning ? sanitizeLines(reasoning).map((line) => [dim('│ '), line]) : [[dim('nothing')]]

function whoLines(detail: ApprovalDetail, now: number): Line[] {
  const { client, session, created_at, confidence, trust_level } = detail
  const version = client?.version ? ` ${client.version}` : ''
  const over = client?.transport ? ` over ${client.transport}` : ''
  // Of a request for access neither is known.
  const sureness = [
    ...(trust_level === null ? [] : [`trust ${score(trust_level)}`]),
    ...(confidence === null ? [] : [`it is ${score(confidence)} sure`]),
  ]
  return [
    [`${sanitize(detail.requester)} in ${sanitize(detail.domain)}, ${sanitize(detail.action)}`],
    ...(sureness.length > 0 ? [[sureness.join(', ')]] : []),
    [`${created_at} (${formatDuration(now - Date.parse(created_at))} ago)`],
    ...(client ? [[`by ${sanitize(client.name + version + over)}, in its own words`]] : []),
    ...(session ? [[`session ${sanitize(session)}`]] : []),
  ]
}

function effectLines({ kind, effect: { approve, overrides } }: ApprovalDetail): Line[] {
  const says = isCheck({ kind }) ? 'wrong' : 'deny'
  const types = [...new Set(overrides.map(({ type }) => type))]
  return [
    ...(approve ? [[`approve: ${score(approve.from)} → ${score(approve.to)}`]] : []),
    ...types.map((type): Line => {
      const each = overrides
        .filter((one) => one.type === type)
        .map(({ severity, to }) => `${severity} ${score(to)}`)
      return [`${says} as ${type}: ${each.join(', ')}`]
    }),
  ]
}

const historyLines = ({ history }: ApprovalDetail): Line[] =>
  history.map(({ at, status, decided_by, summary, reason, trust_change }) => {
    const by = decided_by ? ` by ${sanitize(decided_by)}` : ''
    const change = trust_change
      ? ` (trust ${trust_change > 0 ? '+' : ''}${score(trust_change)})`
      : ''
    return [
      dim(`${formatMinute(at)} `),
      `${status}${by}${change}: ${sanitize(summary)}${reason ? ` – ${sanitize(reason)}` : ''}`,
    ]
  })
