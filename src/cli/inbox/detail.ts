import type { ToolResults } from '#wire'
import { isCheck } from '../approvals.ts'
import type { Check, ApprovalDetail, GrantRequest, Handoff, ApprovalItem } from '../approvals.ts'
import { formatBytes, pluralize, formatMinute, sanitize, sanitizeLines } from '../output.ts'
import { bold, dim, formatTimeLeft, styled, section, formatDuration } from './lines.ts'
import type { Line, Span } from './lines.ts'

/** Lists the values of a JSON value by dotted path, each as JSON, so that strings are recognizable. */
function flattenJson(value: unknown, path = ''): [path: string, value: string][] {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0)
    return [[path, sanitize(JSON.stringify(value) ?? 'null')]]
  return Object.entries(value).flatMap(([name, inner]) =>
    flattenJson(inner, path === '' ? name : `${path}.${name}`),
  )
}

/** The requested path and its real path: a symlink may lead elsewhere. */
function formatAccess({
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
    ...(path === real ? [] : [[dim(`requested as ${sanitize(path)}`)]]),
    ...(missing ? [[styled('yellow', 'the path no longer exists')]] : []),
    ...(isFolder || folder === null ? [] : [[dim(`“folder” means ${sanitize(folder)}`)]]),
  ]
}

function formatFolderContent({ inside }: GrantRequest): Line[] {
  if (!inside) return []
  const { files, folders, bytes, sample, capped } = inside
  const prefix = capped ? 'at least ' : ''
  const more = files + folders - sample.length
  return [
    [
      `${prefix}${pluralize(files, 'file')} in ${pluralize(folders, 'folder')}, ${formatBytes(bytes)}`,
    ],
    ...sample.map((name): Line => ['• ', sanitize(name)]),
    ...(more > 0 ? [[dim(`and ${prefix}${more} more`)]] : []),
  ]
}

const formatSensitive = ({ sensitive }: GrantRequest): Line[] =>
  sensitive.map((name) => [styled('red', '! '), sanitize(name)])

const formatOverdue = ({ overdue, reminded }: Handoff): Line[] =>
  overdue
    ? [[styled('red', 'overdue'), reminded > 0 ? `: ${pluralize(reminded, 'reminder')} sent` : '']]
    : []

const formatAttempts = ({ attempted_actions: attempts }: Handoff): Line[] =>
  attempts.flatMap((attempt): Line[] =>
    typeof attempt === 'string'
      ? sanitizeLines(attempt).map((text, at) => [at === 0 ? '• ' : '  ', text])
      : [['• ', sanitize(JSON.stringify(attempt) ?? 'null')]],
  )

function formatContext({ context, proposal_id: proposal }: Handoff): Line[] {
  const isEmpty =
    context === null || (typeof context === 'object' && Object.keys(context).length === 0)
  const lines: Line[] = isEmpty
    ? []
    : flattenJson(context).map(([path, value]) => [
        path === '' ? value : `${sanitize(path)}: ${value}`,
      ])
  return proposal === null ? lines : [...lines, [`about proposal ${sanitize(proposal)}`]]
}

/** Recent actions of the agent in the domain, oldest first (H5). */
const formatRecent = ({ packet }: Handoff): Line[] =>
  packet.recent.map(({ seq, at, type, action, subject, outcome }) => [
    dim(`${formatMinute(at)} `),
    sanitize(
      [action ?? type, subject, outcome && `→ ${outcome}`, `(entry ${seq})`]
        .filter((part) => part)
        .join(' '),
    ),
  ])

/** Formats the earlier rounds of a handoff; empty if it was neither resolved nor handed back (H6). */
const formatThread = ({ thread }: Handoff): Line[] =>
  thread.length < 2 && thread.every(({ resolution }) => resolution === undefined)
    ? []
    : thread.flatMap(({ at, reason, resolution, hand_back, instructions }): Line[] => [
        [dim(`${formatMinute(at)} `), `request: ${sanitize(reason)}`],
        ...(resolution === undefined
          ? []
          : [
              [
                `  resolution: ${sanitize(resolution)}`,
                dim(hand_back ? ' (handed back)' : ' (not handed back)'),
              ],
            ]),
        ...(instructions === undefined ? [] : [[`  instructions: ${sanitize(instructions)}`]]),
      ])

/** Formats the result of a resolved handoff and of its proposal (H2, H6). */
export function formatHandoffResult({
  agent_id,
  hand_back,
  hand_back_refused,
  proposal,
}: ToolResults['cowork_resolve_handoff']): string {
  const trust = proposal?.trust
  const trustText = trust ? `, trust ${formatScore(trust.from)} → ${formatScore(trust.to)}` : ''
  const proposalText = proposal ? ` Proposal ${proposal.status}${trustText}.` : ''
  if (hand_back_refused)
    return sanitize(`Resolved, not handed back: ${hand_back_refused.message}${proposalText}`)
  return sanitize(`Resolved${hand_back ? ` and handed back to ${agent_id}` : ''}.${proposalText}`)
}

const modeColor = { act: 'green', suggest: 'yellow', escalate: 'red' } as const
const modeIcon = { act: '●', suggest: '◆', escalate: '▲' } as const

/** Shows a mode by color, icon and word, so that color alone carries no meaning (C14). */
export const modeSpan = ({ mode }: Pick<ApprovalItem, 'mode'>): Span =>
  styled(modeColor[mode], `${modeIcon[mode]} ${mode}`)

export const formatKind = (kind: string): string => sanitize(kind).replaceAll('_', ' ')
export const formatScore = (value: number | null): string =>
  value === null ? '–' : value.toFixed(2)

/** Formats all data for a decision: the reason, the request, the consequences (A8, A13). */
export function detailLines(detail: ApprovalDetail, now: number): Line[] {
  return [
    [bold(sanitize(detail.summary) || formatKind(detail.kind))],
    [modeSpan(detail), dim(` · ${formatKind(detail.kind)} · ${detail.risk} risk · `), detail.id],
    statusLine(detail, now),
    ...formatConflict(detail),
    ...section('Reason', formatReasons(detail)),
    ...(detail.check ? section('Consequences', formatConsequences(detail.check)) : []),
    ...requestSections(detail),
    ...(detail.check ? section('On record', formatRecord(detail.check)) : []),
    ...section('Requested by', formatRequester(detail, now)),
    ...section('Effect on trust', formatTrustEffect(detail)),
    ...section('Previous decisions on this target', formatHistory(detail)),
  ]
}

/** A policy conflict comes first. */
const formatConflict = ({ policy_conflict: conflict }: ApprovalDetail): Line[] =>
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

function requestSections(detail: ApprovalDetail): Line[] {
  if (detail.handoff) return handoffSections(detail, detail.handoff)
  const reasoning = section('Agent’s reasoning', formatReasoning(detail))
  if (detail.grant)
    return [
      ...section('Requested access', formatAccess(detail.grant)),
      ...section('Content', formatFolderContent(detail.grant)),
      ...section('Sensitive files', formatSensitive(detail.grant)),
      ...reasoning,
    ]
  return [
    ...section(`Change to ${sanitize(detail.target) || 'no target'}`, formatChange(detail)),
    ...reasoning,
  ]
}

const handoffSections = (detail: ApprovalDetail, handoff: Handoff): Line[] => [
  ...section('Agent’s reasoning', formatReasoning(detail)),
  ...section('Attempts', formatAttempts(handoff)),
  ...section('Context', formatContext(handoff)),
  ...section('Recent activity', formatRecent(handoff)),
  ...section('Thread', formatThread(handoff)),
]

const formatConsequences = ({ consequences: { confirm, wrong, differently } }: Check): Line[] => [
  [bold('Confirm: '), sanitize(confirm)],
  [bold('Mark as wrong: '), sanitize(wrong)],
  [bold('Prefer another way: '), sanitize(differently)],
  [bold('Skip: '), 'Close without trust change.'],
]

const formatRecord = ({ record }: Check): Line[] =>
  record.map(({ seq, at, type, outcome }) => [
    dim(`${formatMinute(at)} `),
    `entry ${seq}, ${sanitize(type)}${outcome === undefined ? '' : `: ${sanitize(outcome)}`}`,
  ])

export function statusLine(item: ApprovalItem, now: number): Line {
  const { status, held, approvers, decided_by, decided_at, channel, reason, expires_at } = item
  if (held)
    return [
      styled('cyan', `${deferredLabel(item, held.decision)} in `),
      `${formatTimeLeft(Date.parse(held.until) - now)}, by ${sanitize(held.by)}: can be undone`,
    ]
  if (status !== 'pending') {
    const by = decided_by ? ` by ${sanitize(decided_by)}` : ''
    const via = channel ? ` (${sanitize(channel)})` : ''
    const at = decided_at ? ` ${formatDuration(now - Date.parse(decided_at))} ago` : ''
    return [
      `${capitalize(formatStatus(item))}${by}${via}${at}${reason ? `: ${sanitize(reason)}` : ''}`,
    ]
  }
  const time = expires_at ? `, ${formatTimeLeft(Date.parse(expires_at) - now)} left` : ''
  const { needed, given } = approvers
  const votes =
    needed > 1
      ? `, ${given.length} of ${needed} approved${given.length > 0 ? ` (${sanitize(given.join(', '))})` : ''}`
      : ''
  return [`Pending for ${formatDuration(now - Date.parse(item.created_at))}${time}${votes}`]
}

const deferredLabel = (item: ApprovalItem, decision: 'approve' | 'reject'): string =>
  isCheck(item) ? 'Decides' : decision === 'approve' ? 'Approves' : 'Rejects'

/** Formats the status; handoffs and spot checks have their own words. */
export function formatStatus({ kind, status }: Pick<ApprovalItem, 'kind' | 'status'>): string {
  if (kind === 'spot_check')
    return status === 'approved' ? 'confirmed' : status === 'rejected' ? 'marked as wrong' : status
  if (kind !== 'handoff') return status
  return status === 'approved' ? 'resolved' : status === 'consumed' ? 'resolved and read' : status
}

const capitalize = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

function formatReasons({ why, handoff }: ApprovalDetail): Line[] {
  const { policy_id, policy_description, policy_version, high_risk_fields } = why
  return [
    [sanitize(why.text)],
    ...(handoff ? formatOverdue(handoff) : []),
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

function formatChange({ change, before, approved_change }: ApprovalDetail): Line[] {
  const previous = new Map(flattenJson(before))
  const lines = flattenJson(change).flatMap(([path, value]): Line[] => {
    const old = previous.get(path)
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

const formatReasoning = ({ reasoning }: ApprovalDetail): Line[] =>
  reasoning ? sanitizeLines(reasoning).map((line) => [dim('│ '), line]) : [[dim('none')]]

function formatRequester(detail: ApprovalDetail, now: number): Line[] {
  const { client, session, created_at, confidence, trust_level } = detail
  const version = client?.version ? ` ${client.version}` : ''
  const over = client?.transport ? ` over ${client.transport}` : ''
  // An access request has neither trust nor confidence.
  const facts = [
    ...(trust_level === null ? [] : [`trust ${formatScore(trust_level)}`]),
    ...(confidence === null ? [] : [`confidence ${formatScore(confidence)}`]),
  ]
  return [
    [`${sanitize(detail.requester)} in ${sanitize(detail.domain)}, ${sanitize(detail.action)}`],
    ...(facts.length > 0 ? [[facts.join(', ')]] : []),
    [`${created_at} (${formatDuration(now - Date.parse(created_at))} ago)`],
    ...(client ? [[`by ${sanitize(client.name + version + over)} (reported by the client)`]] : []),
    ...(session ? [[`session ${sanitize(session)}`]] : []),
  ]
}

function formatTrustEffect({ kind, effect: { approve, overrides } }: ApprovalDetail): Line[] {
  const label = isCheck({ kind }) ? 'wrong' : 'reject'
  const types = [...new Set(overrides.map(({ type }) => type))]
  return [
    ...(approve ? [[`approve: ${formatScore(approve.from)} → ${formatScore(approve.to)}`]] : []),
    ...types.map((type): Line => {
      const effects = overrides
        .filter((override) => override.type === type)
        .map(({ severity, to }) => `${severity} ${formatScore(to)}`)
      return [`${label} as ${type}: ${effects.join(', ')}`]
    }),
  ]
}

const formatHistory = ({ history }: ApprovalDetail): Line[] =>
  history.map(({ at, status, decided_by, summary, reason, trust_change }) => {
    const by = decided_by ? ` by ${sanitize(decided_by)}` : ''
    const change = trust_change
      ? ` (trust ${trust_change > 0 ? '+' : ''}${formatScore(trust_change)})`
      : ''
    return [
      dim(`${formatMinute(at)} `),
      `${status}${by}${change}: ${sanitize(summary)}${reason ? ` – ${sanitize(reason)}` : ''}`,
    ]
  })
