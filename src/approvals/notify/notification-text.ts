import { sanitizeText } from '#base/sanitize.ts'
import type {
  AnyNotice,
  CheckpointNotice,
  LookBackNotice,
  Message,
  ApprovalNotification,
  TestNotification,
} from './model.ts'

/** A notice in words, for people. Only `said` and names in `title` come from agents. */
export type NotificationText = {
  readonly title: string
  /** Plain text of agents. Whoever shows it sees to it that nothing in it becomes a link (A13). */
  readonly said: readonly string[]
  readonly note?: string
  readonly url: string
  readonly risk: 'low' | 'normal' | 'high'
  readonly isEscalated: boolean
}

export const listNotifications = ({ notice, more = [] }: Message): AnyNotice[] =>
  [notice, ...more.map((one) => one.notice)].map((text) => JSON.parse(text) as AnyNotice)

/** A message is a glance: what is beyond this many lines is in the inbox. */
const mostLines = 20
const longestLine = 140

export function formatNotification(message: Message): NotificationText {
  const [first, ...rest] = listNotifications(message)
  if (!first) throw new Error('a message has no notice')
  if (first.type === 'channel.test') return wordedTest(first)
  if (first.type === 'ledger.checkpoint') return wordedCheckpoint(first)
  if (first.type === 'look_back.opened') return wordedLookBack(first)
  return rest.length === 0
    ? wordedOne(first)
    : wordedMany([first, ...(rest as ApprovalNotification[])])
}

/** No agent has a word in it. */
const ofCowork = { said: [], risk: 'normal', isEscalated: false } as const

const wordedTest = ({ data }: TestNotification): NotificationText => ({
  title: 'Test of cowork',
  note: `This channel works. ${defangLinks(data.asked_by)} asked for the test.`,
  url: data.review_url,
  ...ofCowork,
})

const wordedCheckpoint = ({ data }: CheckpointNotice): NotificationText => ({
  title: `Checkpoint of the ledger: ${data.size} entries`,
  note: `Keep this message. \`cowork audit verify --checkpoint\` compares the ledger with the text below.\n\n${data.checkpoint}`,
  url: data.review_url,
  ...ofCowork,
})

function wordedLookBack({ data }: LookBackNotice): NotificationText {
  const { agent, domain, count, risk, review_url: url } = data
  const actions = count === 1 ? '1 action' : `${count} actions`
  return {
    title: `Look at ${actions} that ${defangLinks(agent)} did alone: a mistake was found`,
    said: [],
    note: `In ${defangLinks(domain)}, ${risk} risk. Confirm each or mark it as wrong in the inbox: this agent asks before it acts until enough of them are right.`,
    url,
    risk: riskOf(risk),
    isEscalated: false,
  }
}

function wordedOne(notice: ApprovalNotification): NotificationText {
  const { type, data } = notice
  if (data.kind === 'spot_check') return wordedCheck(notice)
  const { agent, kind, risk, status, summary, domain, review_url: url } = data
  const isDecided = type === 'approval.decided'
  const isEscalated = type === 'approval.escalated'
  const before = isDecided ? `${formatOutcome(status, data.decided_by)}: ` : ''
  const asks = isDecided ? 'asked' : 'asks'
  const title = `${before}${defangLinks(agent)} ${asks} for a decision (${kind.replaceAll('_', ' ')}, ${risk} risk)`
  return {
    title: isEscalated ? `Nobody has decided yet: ${title}` : title,
    said: [`${summary} (${domain})`],
    url,
    risk: riskOf(risk),
    isEscalated,
  }
}

/** A check asks for no permission: it is about what is done already. */
function wordedCheck({ type, data }: ApprovalNotification): NotificationText {
  const { agent, risk, status, summary, domain, review_url: url } = data
  const end = status === 'approved' ? 'confirmed' : status === 'rejected' ? 'not confirmed' : status
  const by = data.decided_by === undefined ? '' : ` by ${defangLinks(data.decided_by)}`
  const isDecided = type === 'approval.decided'
  const before = isDecided
    ? `${end.slice(0, 1).toUpperCase()}${end.slice(1)}${by}: what`
    : 'Look at what'
  return {
    title: `${before} ${defangLinks(agent)} did alone (${risk} risk)`,
    said: [`${summary} (${domain})`],
    url,
    risk: riskOf(risk),
    isEscalated: type === 'approval.escalated',
  }
}

function wordedMany(notices: readonly ApprovalNotification[]): NotificationText {
  const sorted = notices.toSorted(
    (a, b) =>
      rank[riskOf(b.data.risk)] - rank[riskOf(a.data.risk)] || compare(a.timestamp, b.timestamp),
  )
  const [worst] = sorted
  const high = sorted.filter(({ data }) => data.risk === 'high').length
  const left = sorted.length - mostLines
  return {
    title: `${sorted.length} questions wait for a decision${high > 0 ? ` (${high} of high risk)` : ''}`,
    said: sorted
      .slice(0, mostLines)
      .map(({ data }) => sanitizeText(`${data.agent}: ${data.summary}`, longestLine)),
    ...(left > 0 && { note: `And ${left} more.` }),
    url: (worst?.data.review_url ?? '').replace(/\/[^/]*$/, ''),
    risk: riskOf(worst?.data.risk ?? ''),
    isEscalated: sorted.some(({ type }) => type === 'approval.escalated'),
  }
}

const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b))
const rank = { low: 0, normal: 1, high: 2 }
const riskOf = (risk: string): NotificationText['risk'] =>
  risk === 'low' || risk === 'high' ? risk : 'normal'

/** How it ended, as in "Approved by anna". What was approved may be carried out by now. */
export function formatOutcome(status: string, by: string | undefined): string {
  const end = status === 'consumed' ? 'approved' : status
  const word = `${end.slice(0, 1).toUpperCase()}${end.slice(1)}`
  const isPersons = ['approved', 'rejected', 'resolved'].includes(end)
  return isPersons && by !== undefined ? `${word} by ${defangLinks(by)}` : word
}

/** The lines under the title, for channels that show nothing but text. */
export function formatLines({ said, note }: NotificationText): string[] {
  const lines = said.map(defangLinks)
  const [only] = lines
  const label =
    lines.length === 1 && only !== undefined
      ? [`The agent says: ${only}`]
      : ['The agents say:', ...lines]
  return [...(lines.length > 0 ? label : []), ...(note === undefined ? [] : [note])]
}

/**
 * Programs that show text turn addresses in it into links. Words of agents are none of ours to vouch for,
 * so what would be one is written in a way that everyone can read and no program follows (A13).
 */
export const defangLinks = (text: string): string =>
  text
    .replaceAll('://', '[:]//')
    .replaceAll(/(?<=[\p{L}\p{N}])[.。．｡](?=[\p{L}\p{N}]*\p{L})/gu, '[.]')
