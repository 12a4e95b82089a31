import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { modeOfLevel, riskLabels } from '../../agents/class-standing.ts'
import type { Item } from '../approval.ts'
import {
  listRiskClasses,
  listChecks,
  formatChecksTitle,
  isPendingCheck,
  findNextPending,
  formatProgress,
  reasons,
} from '../check.ts'
import type { RiskClass, Answer } from '../check.ts'
import { decide } from '../decision.ts'
import { useQueue } from '../queue.ts'
import { Button } from '../../shared/Button.tsx'
import { LevelChip } from '../../shared/Chips.tsx'
import { Meter } from '../../shared/Meter.tsx'
import { SafeText } from '../../shared/SafeText.tsx'
import { Note } from '../../shared/States.tsx'
import { toastProblem } from '../../shared/toast.ts'
import { queryClient } from '../../api/queries.ts'
import { entryNoun } from '../../api/entry.ts'
import { useEntries } from '../../api/use-entries.ts'
import { useTitle } from '../../shared/use-title.ts'
import { classesQuery, pairQueryKey } from '../../agents/agent-queries.ts'
import { lookBackQuery } from '../approval-queries.ts'
import { CheckRow } from './CheckRow.tsx'
import { CloseLink } from '../../shared/CloseLink.tsx'
import { useFocusOnOpen } from '../../shared/use-focus-on-open.ts'

type Props = {
  id: string
  item: Item
  /** The reason for the checks, once loaded. */
  why: string | undefined
  /** When the group was opened; checks answered since then stay visible. */
  since: number
  mayDecide: boolean
}

/** The checks of one agent or look-back, each with its own answer (T14). */
export function Checks({ id, item, why, since, mayDecide }: Props) {
  const heading = useFocusOnOpen()
  const queued = useQueue().items
  const isLookBack = item.look_back !== undefined
  const listed = useQuery({ ...lookBackQuery(item), enabled: isLookBack }).data
  const rows = useMemo(
    () => listChecks(item, { queued: queued.values(), listed: listed ?? [], since }),
    [item, queued, listed, since],
  )
  const title = formatChecksTitle(rows)
  const waiting = rows.filter(isPendingCheck)
  const { open, toggle, advance } = useOpenCheck(id, rows)
  useTitle(title, 'Inbox')
  return (
    <section
      aria-label="Item"
      className="scroll-thin flex min-w-0 flex-1 flex-col overflow-y-auto [scroll-padding-block:48px_80px]"
    >
      <header className="sticky top-0 z-10 flex h-12 shrink-0 items-center border-b border-line bg-bg px-1 md:hidden">
        <CloseLink to="/inbox" search={true} label="Back to the list" icon="back" />
      </header>
      <article className="grid w-full max-w-195 grid-cols-[minmax(0,1fr)] gap-4 px-7 pt-5.5 pb-7 max-md:px-4">
        <header className="flex items-start gap-1">
          <h2
            ref={heading}
            tabIndex={-1}
            className="min-w-0 flex-1 text-lg font-[620] tracking-[-.01em] text-balance [overflow-wrap:anywhere] outline-none"
          >
            <SafeText text={title} />
          </h2>
          <CloseLink
            to="/inbox"
            search={true}
            label="Close"
            icon="cross"
            className="max-md:hidden"
          />
        </header>
        {why !== undefined && (
          <Note tone={isLookBack ? 'suggest' : 'plain'} icon="eye">
            <SafeText text={why} />
          </Note>
        )}
        <Accounts agent={item.requester} accounts={listRiskClasses(rows)} />
        <p role="status" className="flex items-center gap-2.5 text-xs font-semibold text-soft">
          {formatProgress(rows)}
          <Meter value={1 - waiting.length / rows.length} tone="act" className="w-24" />
        </p>
        <ol aria-label="Actions to check" className="grid gap-2">
          {rows.map((row) => (
            <CheckRow
              key={row.id}
              item={row}
              isOpen={row.id === open}
              mayDecide={mayDecide}
              onToggle={() => toggle(row.id)}
              onAnswered={(answer) => advance(row.id, answer)}
            />
          ))}
        </ol>
        {mayDecide && waiting.length > 0 && <Skip items={waiting} />}
      </article>
    </section>
  )
}

/** Opens one row at a time. After an answer it opens the next pending row and moves the focus. */
function useOpenCheck(id: string, rows: readonly Item[]) {
  const first =
    rows.find((row) => row.id === id && isPendingCheck(row)) ?? rows.find(isPendingCheck)
  const [chosen, setChosen] = useState<string>()
  const hasAdvanced = useRef(false)
  const open = chosen ?? first?.id ?? id
  useEffect(() => {
    if (!hasAdvanced.current) return
    hasAdvanced.current = false
    const row = document.getElementById(`check-${open}`)
    row?.scrollIntoView({ block: 'nearest' })
    if (document.activeElement === document.body) row?.querySelector('button')?.focus()
  }, [open])
  return {
    open,
    toggle: (row: string) => setChosen(row === open ? '' : row),
    advance(row: string, answer: Answer) {
      const next = findNextPending(
        rows.filter((other) => other.id === row || isPendingCheck(other)),
        row,
      )
      // A wrong action stays open, because the person may undo it.
      if (answer === 'wrong' || !next || next.id === row) return
      hasAdvanced.current = true
      setChosen(next.id)
    },
  }
}

type AccountsProps = { agent: string; accounts: readonly RiskClass[] }

function Accounts({ agent, accounts }: AccountsProps) {
  const domains = new Set(accounts.map(({ domain }) => domain))
  const nouns = new Set(['approval', 'override', 'trust', 'look_back'])
  useEntries(
    (entry) =>
      entry.domain !== undefined && domains.has(entry.domain) && nouns.has(entryNoun(entry)),
    () => {
      for (const domain of domains)
        void queryClient.invalidateQueries({ queryKey: pairQueryKey(agent, domain) })
    },
  )
  return (
    <ul aria-label="Trust of the agent" className="grid gap-1.5">
      {accounts.map((account) => (
        <AccountLine key={`${account.domain} ${account.risk}`} agent={agent} account={account} />
      ))}
    </ul>
  )
}

function AccountLine({ agent, account }: { agent: string; account: RiskClass }) {
  const { data } = useQuery(classesQuery(agent, account.domain))
  const standing = data?.find(({ risk }) => risk === account.risk)
  return (
    <li className="min-w-0 break-words text-soft">
      {standing && (
        <span className="mr-2 inline-flex translate-y-[-1px] align-middle">
          <LevelChip mode={modeOfLevel[standing.level]} />
        </span>
      )}
      <SafeText as="span" className="font-mono text-code" text={account.domain} />,{' '}
      {riskLabels[account.risk].toLowerCase()}
      {standing && (
        <>
          :{' '}
          <SafeText
            text={
              standing.next === undefined
                ? standing.reason
                : `${standing.reason} · ${standing.next}`
            }
          />
        </>
      )}
    </li>
  )
}

function Skip({ items }: { items: readonly Item[] }) {
  const [isBusy, setBusy] = useState(false)
  const skip = () => {
    setBusy(true)
    decide(items, { decision: 'approve', skip: true, reason: reasons.skip })
      .catch(toastProblem)
      .finally(() => setBusy(false))
  }
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1.5 text-xs text-soft">
      <Button size="sm" disabled={isBusy} onClick={skip}>
        {items.length === 1 ? 'Skip' : `Skip all ${items.length}`}
      </Button>
      Skipped checks do not count. The agent needs other approvals instead.
    </p>
  )
}
