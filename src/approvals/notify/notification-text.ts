import { sanitizeText } from '#base/sanitize.ts'
import type {
  AnyNotification,
  CheckpointNotification,
  LookBackNotification,
  Message,
  ApprovalNotification,
  TestNotification,
} from './model.ts'

/**
 * The text of a notification for people. Only `agentTexts`, and names in `title`, come from
 * agents.
 */
export type NotificationText = {
  readonly title: string
  /** Plain text of agents. The channel must prevent links in it (A13). */
  readonly agentTexts: readonly string[]
  readonly note?: string
  readonly url: string
  readonly risk: 'low' | 'normal' | 'high'
  readonly isEscalated: boolean
}

export const listNotifications = ({ notice, more = [] }: Message): AnyNotification[] =>
  [notice, ...more.map((one) => one.notice)].map((text) => JSON.parse(text) as AnyNotification)

/** Longer messages end with the number of remaining items. */
const maxLines = 20
const maxLineLength = 140

export function formatNotification(message: Message): NotificationText {
  const [first, ...rest] = listNotifications(message)
  if (!first) throw new Error('a message has no notification')
  if (first.type === 'channel.test') return formatTest(first)
  if (first.type === 'ledger.checkpoint') return formatCheckpoint(first)
  if (first.type === 'look_back.opened') return formatLookBack(first)
  return rest.length === 0
    ? formatSingle(first)
    : formatBatch([first, ...(rest as ApprovalNotification[])])
}

/** Fields of a message without agent text. */
const systemText = { agentTexts: [], risk: 'normal', isEscalated: false } as const

const formatTest = ({ data }: TestNotification): NotificationText => ({
  title: 'cowork test notification',
  note: `This channel works. Requested by ${defangLinks(data.asked_by)}.`,
  url: data.review_url,
  ...systemText,
})

const formatCheckpoint = ({ data }: CheckpointNotification): NotificationText => ({
  title: `Ledger checkpoint: ${data.size} entries`,
  note: `Keep this message. Verify the ledger against it with \`cowork audit verify --checkpoint\`.\n\n${data.checkpoint}`,
  url: data.review_url,
  ...systemText,
})

function formatLookBack({ data }: LookBackNotification): NotificationText {
  const { agent, domain, count, risk, review_url: url } = data
  const actions = count === 1 ? '1 autonomous action' : `${count} autonomous actions`
  return {
    title: `Review ${actions} by ${defangLinks(agent)}: an earlier action was wrong`,
    agentTexts: [],
    note: `Domain ${defangLinks(domain)}, ${risk} risk. Confirm each action or mark it as wrong. The agent needs approval until enough actions are confirmed.`,
    url,
    risk: toRisk(risk),
    isEscalated: false,
  }
}

const requestLabels: ReadonlyMap<string, string> = new Map([
  ['grant', 'access request from'],
  ['call', 'tool call from'],
  ['permission', 'new domain for'],
  ['finding', 'finding about'],
])

function formatSingle(notice: ApprovalNotification): NotificationText {
  const { type, data } = notice
  if (data.kind === 'spot_check') return formatSpotCheck(notice)
  const { agent, kind, risk, status, summary, domain, review_url: url } = data
  const isDecided = type === 'approval.decided'
  const isEscalated = type === 'approval.escalated'
  const pending = isEscalated ? 'Decision overdue' : 'Decision needed'
  const state = isDecided ? formatOutcome(status, data.decided_by) : pending
  const request = requestLabels.get(kind) ?? `${kind.replaceAll('_', ' ')} from`
  return {
    title: `${state}: ${request} ${defangLinks(agent)} (${risk} risk)`,
    agentTexts: [`${summary} (${domain})`],
    url,
    risk: toRisk(risk),
    isEscalated,
  }
}

/** A spot check reviews an action that is already done. */
function formatSpotCheck({ type, data }: ApprovalNotification): NotificationText {
  const { agent, risk, status, summary, domain, review_url: url } = data
  const end =
    status === 'approved' ? 'confirmed' : status === 'rejected' ? 'marked as wrong' : status
  const by = data.decided_by === undefined ? '' : ` by ${defangLinks(data.decided_by)}`
  const isDecided = type === 'approval.decided'
  const state = isDecided
    ? `${end.slice(0, 1).toUpperCase()}${end.slice(1)}${by}`
    : 'Spot check needed'
  return {
    title: `${state}: autonomous action by ${defangLinks(agent)} (${risk} risk)`,
    agentTexts: [`${summary} (${domain})`],
    url,
    risk: toRisk(risk),
    isEscalated: type === 'approval.escalated',
  }
}

function formatBatch(notices: readonly ApprovalNotification[]): NotificationText {
  const sorted = notices.toSorted(
    (a, b) =>
      rank[toRisk(b.data.risk)] - rank[toRisk(a.data.risk)] || compare(a.timestamp, b.timestamp),
  )
  const [worst] = sorted
  const high = sorted.filter(({ data }) => data.risk === 'high').length
  const remaining = sorted.length - maxLines
  return {
    title: `${sorted.length} decisions needed${high > 0 ? ` (${high} high risk)` : ''}`,
    agentTexts: sorted
      .slice(0, maxLines)
      .map(({ data }) => sanitizeText(`${data.agent}: ${data.summary}`, maxLineLength)),
    ...(remaining > 0 && { note: `${remaining} more in the inbox.` }),
    url: (worst?.data.review_url ?? '').replace(/\/[^/]*$/, ''),
    risk: toRisk(worst?.data.risk ?? ''),
    isEscalated: sorted.some(({ type }) => type === 'approval.escalated'),
  }
}

const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b))
const rank = { low: 0, normal: 1, high: 2 }
const toRisk = (risk: string): NotificationText['risk'] =>
  risk === 'low' || risk === 'high' ? risk : 'normal'

/**
 * Formats the outcome, for example "Approved by anna". An approved request may already be
 * executed.
 */
export function formatOutcome(status: string, by: string | undefined): string {
  const end = status === 'consumed' ? 'approved' : status
  const word = `${end.slice(0, 1).toUpperCase()}${end.slice(1)}`
  const isDecidedByPerson = ['approved', 'rejected', 'resolved'].includes(end)
  return isDecidedByPerson && by !== undefined ? `${word} by ${defangLinks(by)}` : word
}

/** Returns the lines below the title, for channels that show plain text. */
export function formatLines({ agentTexts, note }: NotificationText): string[] {
  const lines = agentTexts.map(defangLinks)
  const [only] = lines
  const label =
    lines.length === 1 && only !== undefined
      ? [`The agent says: ${only}`]
      : ['The agents say:', ...lines]
  return [...(lines.length > 0 ? label : []), ...(note === undefined ? [] : [note])]
}

/**
 * Rewrites URLs and domain names so that people can read them but no program makes them links:
 * agents could use a notification for phishing (A13).
 */
export const defangLinks = (text: string): string =>
  text
    .replaceAll('://', '[:]//')
    .replaceAll(/(?<=[\p{L}\p{N}])[.。．｡](?=[\p{L}\p{N}]*\p{L})/gu, '[.]')
