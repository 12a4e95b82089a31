import { useQuery } from '@tanstack/react-query'
import { isHandoff } from './approval.ts'
import type { Item } from './approval.ts'
import { describeContents } from './grant.ts'
import {
  formatEndState,
  formatHandoffMode,
  formatPercent,
  formatQuorum,
  formatRisk,
  secondsUntil,
  updatesEverySecond,
  formatExpiry,
} from './text.ts'
import { Chip, ModeChip } from '../shared/Chips.tsx'
import { Icon } from '../shared/Icon.tsx'
import type { IconName } from '../shared/Icon.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { formatAgo } from '../shared/time.ts'
import { useNow, useSecond } from '../shared/use-now.ts'
import { approvalQuery } from './approval-queries.ts'
import { usePersonName } from './use-person-name.ts'
import { splitForEllipsis, abbreviateHome } from '../files/path.ts'
import type { AccessSummary } from './grant.ts'
import { sanitizeText } from '../shared/sanitize.ts'
import { meQuery } from '../api/queries.ts'

const icons: Record<string, IconName> = {
  proposal: 'call',
  grant: 'folder',
  call: 'action',
  permission: 'key',
  spot_check: 'eye',
  handoff: 'handoff',
  finding: 'info',
}

const kindIcon = (kind: string): IconName =>
  (Object.hasOwn(icons, kind) ? icons[kind] : undefined) ?? 'other'

/** The third line of a row: mode, trust, risk and time. */
export function Meta({ item }: { item: Item }) {
  if (item.status !== 'pending') return <EndedMeta item={item} />
  const risk = formatRisk(item)
  const quorum = formatQuorum(item)
  return (
    <>
      <ModeChip mode={item.mode} trust={item.trust_level} />
      {item.kind === 'grant' && <GrantContents id={item.id} />}
      {isHandoff(item) && <span>{formatHandoffMode(item.action)}</span>}
      {item.held && <UndoWindowChip until={item.held.until} />}
      {risk && <span>{risk}</span>}
      {quorum && <span>{quorum} approvals</span>}
      <TimeLeft expires={item.expires_at} />
      {item.confidence !== null && <span>confidence {formatPercent(item.confidence)}</span>}
    </>
  )
}

/** The contents of a requested path. There are few access requests at a time, and the open item uses the same query. */
const GrantContents = ({ id }: { id: string }) => {
  const grant = useQuery(approvalQuery(id)).data?.grant
  return grant && describeContents(grant).map((text) => <span key={text}>{text}</span>)
}

const UndoWindowChip = ({ until }: { until: string }) => (
  <Chip tone="accent" icon="clock">
    Undo window: {secondsUntil(until, useSecond())} s
  </Chip>
)

function TimeLeft({ expires }: { expires: string | null }) {
  const now = useNow()
  if (updatesEverySecond(expires, now)) return <Countdown expires={expires} />
  const left = formatExpiry(expires, now)
  return left && <span>{left}</span>
}

const Countdown = ({ expires }: { expires: string | null }) => (
  <span className="font-[550] text-escalate">{formatExpiry(expires, useSecond())}</span>
)

function EndedMeta({ item }: { item: Item }) {
  const who = usePersonName(item.decided_by)
  const now = useNow()
  if (item.status === 'pending') return null
  const good = item.status === 'approved' || item.status === 'consumed'
  const tone = good ? 'act' : item.status === 'rejected' ? 'escalate' : 'plain'
  return (
    <>
      <Chip tone={tone} icon={good ? 'check' : item.status === 'rejected' ? 'stop' : 'clock'}>
        {formatEndState(item)}
      </Chip>
      {item.decided_by !== undefined && (
        <span className="truncate">
          by <SafeText text={who(item.decided_by)} />
          {item.decided_at !== undefined && `, ${formatAgo(Date.parse(item.decided_at), now)}`}
        </span>
      )}
    </>
  )
}

export const KindIcon = ({ kind }: { kind: string }) => <Icon name={kindIcon(kind)} />

/** An access request in one line. Paths differ at the end, so the start is truncated (C2). */
export function AccessLine({ says, path }: AccessSummary) {
  const home = useQuery(meQuery).data?.home
  const { head, end } = splitForEllipsis(abbreviateHome(path, home))
  return (
    <span title={sanitizeText(path)} className="flex min-w-0 whitespace-pre">
      <span className="shrink-0">{says} </span>
      <span className="flex min-w-0">
        <SafeText as="span" className="min-w-0 truncate" text={head} />
        {/* `rtl` truncates at the left; the path itself stays left to right. */}
        <SafeText as="span" className="max-w-full shrink-0 truncate [direction:rtl]" text={end} />
      </span>
    </span>
  )
}
