import type { ToolResults } from '#wire'
import { isCheck } from '../approvals.ts'
import type { Check, Detail, GrantRequest, Handoff, Item } from '../approvals.ts'
import { bytesText, countText, minuteOf, plain, plainLines } from '../output.ts'
import { bold, dim, left, looking, section, span } from './lines.ts'
import type { Line, Span } from './lines.ts'

/** The values in a JSON value by their dotted path; each as JSON, which shows what is a text and what is not. */
function leavesOf(value: unknown, path = ''): [path: string, value: string][] {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0)
    return [[path, plain(JSON.stringify(value) ?? 'null')]]
  return Object.entries(value).flatMap(([name, inner]) =>
    leavesOf(inner, path === '' ? name : `${path}.${name}`),
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
    ...(warning === undefined ? [] : [[looking('red', plain(warning))]]),
    [`${permission} of the ${isFolder ? 'folder' : 'file'} ${plain(real)}`],
    ...(path === real ? [] : [[dim(`asked for as ${plain(path)}`)]]),
    ...(missing ? [[looking('yellow', 'nothing is there now')]] : []),
    ...(isFolder || folder === null ? [] : [[dim(`“folder” means ${plain(folder)}`)]]),
  ]
}

function insideLines({ inside }: GrantRequest): Line[] {
  if (!inside) return []
  const { files, folders, bytes, sample, capped } = inside
  const most = capped ? 'at least ' : ''
  const more = files + folders - sample.length
  return [
    [`${most}${countText(files, 'file')} in ${countText(folders, 'folder')}, ${bytesText(bytes)}`],
    ...sample.map((name): Line => ['• ', plain(name)]),
    ...(more > 0 ? [[dim(`and ${most}${more} more`)]] : []),
  ]
}

const sensitiveLines = ({ sensitive }: GrantRequest): Line[] =>
  sensitive.map((name) => [looking('red', '! '), plain(name)])

const overdueLines = ({ overdue, reminded }: Handoff): Line[] =>
  overdue
    ? [
        [
          looking('red', 'overdue'),
          reminded > 0
            ? `: people were reminded ${reminded === 1 ? 'once' : `${reminded} times`}`
            : '',
        ],
      ]
    : []

const triedLines = ({ attempted_actions: tried }: Handoff): Line[] =>
  tried.flatMap((one): Line[] =>
    typeof one === 'string'
      ? plainLines(one).map((text, at) => [at === 0 ? '• ' : '  ', text])
      : [['• ', plain(JSON.stringify(one) ?? 'null')]],
  )

function contextLines({ context, proposal_id: proposal }: Handoff): Line[] {
  const isEmpty =
    context === null || (typeof context === 'object' && Object.keys(context).length === 0)
  const lines: Line[] = isEmpty
    ? []
    : leavesOf(context).map(([path, value]) => [path === '' ? value : `${plain(path)}: ${value}`])
  return proposal === null ? lines : [...lines, [`about proposal ${plain(proposal)}`]]
}

/** What the agent did last in that domain, oldest first (H5). */
const recentLines = ({ packet }: Handoff): Line[] =>
  packet.recent.map(({ seq, at, type, action, subject, outcome }) => [
    dim(`${minuteOf(at)} `),
    plain(
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
        [dim(`${minuteOf(at)} `), `asked: ${plain(reason)}`],
        ...(resolution === undefined
          ? []
          : [
              [
                `  answered: ${plain(resolution)}`,
                dim(hand_back ? ' (handed back)' : ' (not handed back)'),
              ],
            ]),
        ...(instructions === undefined ? [] : [[`  instructions: ${plain(instructions)}`]]),
      ])

/** What became of a handoff and, where it was decided in the same act, of its proposal (H2, H6). */
export function answeredText({
  agent_id,
  hand_back,
  hand_back_refused,
  proposal,
}: ToolResults['cowork_resolve_handoff']): string {
  const trust = proposal?.trust
  const moved = trust ? `, trust ${score(trust.from)} → ${score(trust.to)}` : ''
  const decided = proposal ? ` Its proposal is ${proposal.status}${moved}.` : ''
  if (hand_back_refused)
    return plain(`Answered, not handed back: ${hand_back_refused.message}${decided}`)
  return plain(`Answered${hand_back ? ` and handed back to ${agent_id}` : ''}.${decided}`)
}

const modeLook = { act: 'green', suggest: 'yellow', escalate: 'red' } as const
const modeIcon = { act: '●', suggest: '◆', escalate: '▲' } as const

/** A mode by colour and icon and word, so that none of them is needed to tell (C14). */
export const modeSpan = ({ mode }: Pick<Item, 'mode'>): Span =>
  looking(modeLook[mode], `${modeIcon[mode]} ${mode}`)

export const kindName = (kind: string): string => plain(kind).replaceAll('_', ' ')
export const score = (value: number | null): string => (value === null ? '–' : value.toFixed(2))

/** Everything a person decides by: why it was asked first, then what, then what follows (A8, A13). */
export function detailLines(detail: Detail, now: number): Line[] {
  return [
    [bold(plain(detail.summary) || kindName(detail.kind))],
    [modeSpan(detail), dim(` · ${kindName(detail.kind)} · ${detail.risk} risk · `), detail.id],
    stateLine(detail, now),
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
const conflictLines = ({ policy_conflict: conflict }: Detail): Line[] =>
  conflict
    ? [
        [
          looking(
            'red',
            `! Blocked by the active policy${conflict.policy === null ? '' : ` ${plain(conflict.policy)}`}: `,
          ),
          plain(conflict.message),
        ],
      ]
    : []

function askedSections(detail: Detail): Line[] {
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
    ...section(`Change to ${plain(detail.target) || 'no target'}`, changeLines(detail)),
    ...said,
  ]
}

const handoffSections = (detail: Detail, handoff: Handoff): Line[] => [
  ...section('The agent says', saidLines(detail)),
  ...section('What it tried', triedLines(handoff)),
  ...section('What you need to know', contextLines(handoff)),
  ...section('What it did last', recentLines(handoff)),
  ...section('Asked and answered', threadLines(handoff)),
]

const answerLines = ({ consequences: { confirm, wrong, differently } }: Check): Line[] => [
  [bold('Confirm: '), plain(confirm)],
  [bold('Mark as wrong: '), plain(wrong)],
  [bold('I would have done it differently: '), plain(differently)],
  [bold('Skip: '), 'It is closed and counts for nothing.'],
]

const recordLines = ({ record }: Check): Line[] =>
  record.map(({ seq, at, type, outcome }) => [
    dim(`${minuteOf(at)} `),
    `entry ${seq}, ${plain(type)}${outcome === undefined ? '' : `: ${plain(outcome)}`}`,
  ])

export function stateLine(item: Item, now: number): Line {
  const { status, held, approvers, decided_by, decided_at, channel, reason, expires_at } = item
  if (held)
    return [
      looking('cyan', `${heldWord(item, held.decision)} in `),
      `${left(Date.parse(held.until) - now)}, by ${plain(held.by)}: it can still be undone`,
    ]
  if (status !== 'pending') {
    const by = decided_by ? ` by ${plain(decided_by)}` : ''
    const via = channel ? ` (${plain(channel)})` : ''
    const at = decided_at ? ` ${span(now - Date.parse(decided_at))} ago` : ''
    return [`${capital(statusName(item))}${by}${via}${at}${reason ? `: ${plain(reason)}` : ''}`]
  }
  const time = expires_at ? `, ${left(Date.parse(expires_at) - now)} left` : ''
  const { needed, given } = approvers
  const votes =
    needed > 1
      ? `, ${given.length} of ${needed} approved${given.length > 0 ? ` (${plain(given.join(', '))})` : ''}`
      : ''
  return [`Waits for ${span(now - Date.parse(item.created_at))}${time}${votes}`]
}

const heldWord = (item: Item, decision: 'approve' | 'reject'): string =>
  isCheck(item) ? 'Answers' : decision === 'approve' ? 'Approves' : 'Denies'

/** How it ended, in a word: nobody approves a handoff, or what is done already. */
export function statusName({ kind, status }: Pick<Item, 'kind' | 'status'>): string {
  if (kind === 'spot_check')
    return status === 'approved' ? 'confirmed' : status === 'rejected' ? 'not confirmed' : status
  if (kind !== 'handoff') return status
  return status === 'approved' ? 'answered' : status === 'consumed' ? 'answered and read' : status
}

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

function whyLines({ why, handoff }: Detail): Line[] {
  const { policy_id, policy_description, policy_version, high_risk_fields } = why
  return [
    [plain(why.text)],
    ...(handoff ? overdueLines(handoff) : []),
    ...why.rules.map(({ rule_id, field, severity, reason }): Line => [
      `rule ${plain(rule_id)} on ${plain(field)}: ${plain(reason)} `,
      dim(`(${plain(severity)})`),
    ]),
    ...(high_risk_fields.length > 0
      ? [[`high-risk fields: ${plain(high_risk_fields.join(', '))}`]]
      : []),
    ...(policy_id === null
      ? []
      : [
          [
            `policy ${plain(policy_id)}${policy_description ? `: ${plain(policy_description)}` : ''} `,
            dim(`(version ${plain(policy_version).slice(0, 12)})`),
          ],
        ]),
  ]
}

function changeLines({ change, before, approved_change }: Detail): Line[] {
  const known = new Map(leavesOf(before))
  const lines = leavesOf(change).flatMap(([path, value]): Line[] => {
    const old = known.get(path)
    return [
      ...(old === undefined || old === value ? [] : [[looking('red', `- ${plain(path)}: ${old}`)]]),
      [looking('green', `${path === '' ? '' : `+ ${plain(path)}: `}${value}`)],
    ]
  })
  return approved_change === undefined
    ? lines
    : [
        ...lines,
        ['approved instead:'],
        ...leavesOf(approved_change).map(([path, value]): Line => [`  ${plain(path)}: ${value}`]),
      ]
}

const saidLines = ({ reasoning }: Detail): Line[] =>
  reasoning ? plainLines(reasoning).map((line) => [dim('│ '), line]) : [[dim('nothing')]]

function whoLines(detail: Detail, now: number): Line[] {
  const { client, session, created_at, confidence, trust_level } = detail
  const version = client?.version ? ` ${client.version}` : ''
  const over = client?.transport ? ` over ${client.transport}` : ''
  // Of a request for access neither is known.
  const sureness = [
    ...(trust_level === null ? [] : [`trust ${score(trust_level)}`]),
    ...(confidence === null ? [] : [`it is ${score(confidence)} sure`]),
  ]
  return [
    [`${plain(detail.requester)} in ${plain(detail.domain)}, ${plain(detail.action)}`],
    ...(sureness.length > 0 ? [[sureness.join(', ')]] : []),
    [`${created_at} (${span(now - Date.parse(created_at))} ago)`],
    ...(client ? [[`by ${plain(client.name + version + over)}, in its own words`]] : []),
    ...(session ? [[`session ${plain(session)}`]] : []),
  ]
}

function effectLines({ kind, effect: { approve, overrides } }: Detail): Line[] {
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

const historyLines = ({ history }: Detail): Line[] =>
  history.map(({ at, status, decided_by, summary, reason, trust_change }) => {
    const by = decided_by ? ` by ${plain(decided_by)}` : ''
    const change = trust_change
      ? ` (trust ${trust_change > 0 ? '+' : ''}${score(trust_change)})`
      : ''
    return [
      dim(`${minuteOf(at)} `),
      `${status}${by}${change}: ${plain(summary)}${reason ? ` – ${plain(reason)}` : ''}`,
    ]
  })
