import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { isCheck, isHandoff } from '../approval.ts'
import type { Detail, Item } from '../approval.ts'
import { useQueue } from '../queue.ts'
import { IconButton } from '../../shared/Button.tsx'
import { CopyIcon } from '../../shared/Copy.tsx'
import { SafeText } from '../../shared/SafeText.tsx'
import { Loading, ErrorState, Note } from '../../shared/States.tsx'
import { useTitle } from '../../shared/use-title.ts'
import { approvalQuery, useRefreshItem } from '../approval-queries.ts'
import { Change } from './DiffLines.tsx'
import { Checks } from './Checks.tsx'
import { ConflictNote, ApprovalReason, Reasoning } from './ApprovalReason.tsx'
import { Footer } from './Footer.tsx'
import { GrantChoices, GrantDetail } from './GrantDetail.tsx'
import { HandoffDetail } from './HandoffDetail.tsx'
import { History, ItemFacts, DecisionRecord } from './ItemFacts.tsx'
import { TrustChart } from './TrustChart.tsx'
import type { Actions } from '../use-actions.ts'
import { CloseLink } from '../../shared/CloseLink.tsx'
import { useFocusOnOpen } from '../../shared/use-focus-on-open.ts'
import { formatDecision, formatSince } from '../text.ts'
import { useSecond } from '../../shared/use-now.ts'
import { usePersonName } from '../use-person-name.ts'

type Props = {
  id: string
  actions: Actions
  mayDecide: boolean
  /** Shown without the list, in the practice round. */
  isAlone?: boolean
}

export function ItemDetail({ id, actions, mayDecide, isAlone = false }: Props) {
  const { data, error, refetch } = useQuery(approvalQuery(id))
  const known = useQueue().items.get(id)
  // The item in the list is available immediately and at least as new.
  const item = known ?? data
  const [since] = useState(Date.now)
  useRefreshItem(id, item)
  if (item && isShownAsGroup(item, since))
    return <Checks id={id} item={item} why={data?.why.text} since={since} mayDecide={mayDecide} />
  return (
    <section
      aria-label="Item"
      className="scroll-thin flex min-w-0 flex-1 flex-col overflow-y-auto [scroll-padding-block:48px_80px]"
    >
      <header className="sticky top-0 z-10 flex h-12 shrink-0 items-center justify-between border-b border-line bg-bg px-1 md:hidden">
        {isAlone ? (
          <span />
        ) : (
          <CloseLink to="/inbox" search={true} label="Back to the list" icon="back" />
        )}
        {item && <Tools item={item} acts={actions} />}
      </header>
      {item && (
        <Body item={item} detail={data} acts={actions} mayDecide={mayDecide} isAlone={isAlone} />
      )}
      {!data && !error && !item && <Loading what="the item" />}
      {error && !data && <ErrorState error={error} retry={() => void refetch()} />}
      {item && data && <Footer item={item} detail={data} actions={actions} mayDecide={mayDecide} />}
    </section>
  )
}

/** Shows checks as a group while one is pending or recently answered, and look-backs always. */
const isShownAsGroup = (item: Item, since: number) =>
  isCheck(item) &&
  (item.status === 'pending' ||
    item.look_back !== undefined ||
    Date.parse(item.decided_at ?? '') >= since)

const Tools = ({ item, acts }: { item: Item; acts: Actions }) => (
  <span className="flex items-center gap-1">
    {item.status === 'pending' && !item.held && (
      <IconButton
        icon="clock"
        label="Snooze"
        aria-keyshortcuts="s"
        onClick={() => acts.start('snooze', [item])}
      />
    )}
    <CopyIcon text={`${location.origin}/inbox/${item.id}`} what="link" />
  </span>
)

type BodyProps = {
  item: Item
  detail: Detail | undefined
  acts: Actions
  mayDecide: boolean
  isAlone: boolean
}

function Body({ item, detail, acts, mayDecide, isAlone }: BodyProps) {
  const heading = useFocusOnOpen()
  useTitle(item.summary, 'Inbox')
  return (
    <article className="grid w-full max-w-195 grid-cols-[minmax(0,1fr)] gap-5 px-7 pt-5.5 pb-7 max-md:px-4">
      <header className="flex items-start gap-1">
        <div className="min-w-0 flex-1">
          <h2
            ref={heading}
            tabIndex={-1}
            className="text-lg font-[620] tracking-[-.01em] text-balance [overflow-wrap:anywhere] outline-none"
          >
            <SafeText text={item.summary} />
          </h2>
        </div>
        <span className="flex items-center max-md:hidden">
          <Tools item={item} acts={acts} />
          {!isAlone && <CloseLink to="/inbox" search={true} label="Close" icon="cross" />}
        </span>
      </header>
      {item.status !== 'pending' && <EndState item={item} />}
      <ConflictNote item={item} />
      {detail ? (
        <>
          <ApprovalReason detail={detail} />
          <ItemFacts detail={detail} />
          <About detail={detail} />
          {detail.grant && item.status === 'pending' && !item.held && mayDecide && (
            <GrantChoices item={item} grant={detail.grant} acts={acts} />
          )}
          {detail.grant && <History detail={detail} />}
          <DecisionRecord detail={detail} />
        </>
      ) : (
        <div className="-mx-4">
          <Loading what="the item" rows={4} />
        </div>
      )}
    </article>
  )
}

function About({ detail }: { detail: Detail }) {
  if (detail.grant) return <GrantDetail detail={detail} grant={detail.grant} />
  if (detail.handoff)
    return (
      <>
        <HandoffDetail detail={detail} handoff={detail.handoff} />
        <TrustChart detail={detail} />
      </>
    )
  return (
    <>
      <Change detail={detail} />
      <Reasoning text={detail.reasoning} />
      <TrustChart detail={detail} />
      <History detail={detail} />
    </>
  )
}

const channels: Readonly<Record<string, string>> = {
  console: 'in the console',
  cli: 'on the command line',
  api: 'over the API',
  mcp: 'over MCP',
}

/** The final state of the item, with person, time, channel and reason. */
function EndState({ item }: { item: Item }) {
  const now = useSecond()
  const who = usePersonName(item.decided_by)
  const isGood = item.status === 'approved' || item.status === 'consumed'
  const tone = isGood ? 'act' : item.status === 'rejected' ? 'escalate' : 'plain'
  const at = Date.parse(item.decided_at ?? item.created_at)
  return (
    <div role="status">
      <Note tone={tone} icon={isGood ? 'check' : item.status === 'rejected' ? 'stop' : 'clock'}>
        <SafeText as="b" text={formatDecision(item, who(item.decided_by), formatSince(at, now))} />
        {item.channel && item.decided_by !== undefined && !item.auto && (
          <span className="text-soft">, {channels[item.channel] ?? `via ${item.channel}`}</span>
        )}
        {item.status === 'consumed' && (
          <span className="text-soft">
            {isHandoff(item) ? ', acknowledged by the agent' : ', executed'}
          </span>
        )}
        {item.reason && <SafeText as="p" className="text-soft" text={item.reason} lines />}
      </Note>
    </div>
  )
}
