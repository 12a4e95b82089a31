import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import type { Check, Decision, Detail, Item } from '../approval.ts'
import { changeLines, toLines } from '../change.ts'
import { formatAnswer, answerLabels, isPendingCheck, reasons } from '../check.ts'
import type { Answer } from '../check.ts'
import { checksKey } from '../row.ts'
import { formatAge, formatRisk } from '../text.ts'
import { useKeys } from '../../shared/use-keys.ts'
import { Ago } from '../../shared/Ago.tsx'
import { Button, textLink } from '../../shared/Button.tsx'
import { ErrorNote, QueryState } from '../../shared/States.tsx'
import { Icon } from '../../shared/Icon.tsx'
import type { IconName } from '../../shared/Icon.tsx'
import { SafeText } from '../../shared/SafeText.tsx'
import { toastProblem } from '../../shared/toast.ts'
import { approvalQuery, useRefreshItem } from '../approval-queries.ts'
import { DiffLines } from './DiffLines.tsx'
import { focusedKey } from '../../shared/focus-row.ts'
import { useAnswer } from './use-answer.ts'
import { WrongDialog } from '../dialog/WrongDialog.tsx'

type Props = {
  item: Item
  isOpen: boolean
  mayDecide: boolean
  onToggle: () => void
  onAnswered: (answer: Answer) => void
}

export function CheckRow({ item, isOpen, mayDecide, onToggle, onAnswered }: Props) {
  return (
    <li id={`check-${item.id}`} className="overflow-hidden rounded border border-line bg-panel">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={onToggle}
        className="flex w-full items-center gap-2.5 px-3 py-2 text-left -outline-offset-2 hover:bg-raised max-md:min-h-11"
      >
        <Icon name="right" size={14} className={`text-soft ${isOpen ? 'rotate-90' : ''}`} />
        <span className="min-w-0 flex-1 truncate">
          <SafeText as="b" className="font-[550]" text={item.action} />
          {item.target !== '' && (
            <span className="text-soft">
              {' '}
              on <SafeText text={item.target} />
            </span>
          )}
        </span>
        {isPendingCheck(item) ? (
          <Ago at={item.created_at} format={formatAge} className="text-xs text-faint" />
        ) : (
          <AnswerMark item={item} />
        )}
      </button>
      {isOpen && <Opened item={item} mayDecide={mayDecide} onAnswered={onAnswered} />}
    </li>
  )
}

const marks: Readonly<Record<string, { icon: IconName; tone: string }>> = {
  approved: { icon: 'check', tone: 'text-act' },
  rejected: { icon: 'cross', tone: 'text-escalate' },
}

function AnswerMark({ item }: { item: Item }) {
  const { icon, tone } = marks[item.status] ?? { icon: 'clock', tone: 'text-soft' }
  return (
    <span className={`flex shrink-0 items-center gap-1 text-xs ${tone}`}>
      <Icon name={icon} size={12} />
      {formatAnswer(item) ?? (item.held ? 'Undo possible' : 'Closed')}
    </span>
  )
}

type OpenedProps = Pick<Props, 'item' | 'mayDecide' | 'onAnswered'>

/** The answer counts only if the person opened the check; the daemon records this. */
function Opened({ item, mayDecide, onAnswered }: OpenedProps) {
  const query = useQuery(approvalQuery(item.id))
  const { data } = query
  useRefreshItem(item.id, item)
  if (!data) return <QueryState query={query} what="the action" rows={2} />
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3 border-t border-line px-3 pt-3 pb-3.5">
      <What detail={data} />
      {data.check?.undo && <Undo undo={data.check.undo} />}
      {data.check && mayDecide && isPendingCheck(item) && (
        <Answers item={item} check={data.check} onAnswered={onAnswered} />
      )}
    </div>
  )
}

function What({ detail }: { detail: Detail }) {
  const { change, before, check, domain } = detail
  const isProposal = check?.record.some(({ type }) => type.startsWith('proposal.')) ?? false
  const lines = isProposal ? changeLines(before, change) : toLines(change)
  const risk = formatRisk(detail)
  return (
    <>
      {lines.length > 0 ? (
        <DiffLines label="Action" lines={lines} />
      ) : (
        <p className="text-faint">No arguments</p>
      )}
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-soft">
        <SafeText as="span" className="font-mono text-code" text={domain} />
        {risk && <span>{risk}</span>}
        {check && <Record record={check.record} />}
      </p>
    </>
  )
}

const Record = ({ record }: Pick<Check, 'record'>) => (
  <span className="flex flex-wrap gap-x-2">
    {record.length === 0 ? 'No ledger entries' : 'Ledger:'}
    {record.map(({ seq, type, outcome }) => (
      <Link key={seq} to="/audit/$seq" params={{ seq: String(seq) }} className={textLink}>
        {type.replace('.', ' ').replaceAll('_', ' ')}
        {outcome !== undefined && `, ${outcome.replaceAll('_', ' ')}`}
      </Link>
    ))}
  </span>
)

function Undo({ undo }: { undo: NonNullable<Check['undo']> }) {
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: () => call(undo.tool, undo.arguments),
  })
  return (
    <div className="grid gap-2">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1.5 text-xs text-soft">
        <Button size="sm" icon="undo" disabled={isPending || isSuccess} onClick={() => mutate()}>
          Undo
        </Button>
        <span role="status">{isSuccess ? 'Undone.' : <SafeText text={undo.text} />}</span>
      </p>
      <ErrorNote error={error} />
    </div>
  )
}

type AnswersProps = { item: Item; check: Check; onAnswered: (answer: Answer) => void }

const decisions: Record<'confirm' | 'differently', Decision> = {
  confirm: { decision: 'approve' },
  differently: {
    decision: 'reject',
    reason: reasons.differently,
    override: { type: 'human_preference', severity: 'medium', description: reasons.differently },
  },
}

const answers = [
  { choice: 'confirm', keys: 'a', tone: 'primary' },
  { choice: 'wrong', keys: 'd', tone: 'plain' },
  { choice: 'differently', keys: 'r', tone: 'plain' },
] as const

/** The three answers, each with its consequence (C2). */
function Answers({ item, check: { consequences, faults }, onAnswered }: AnswersProps) {
  const { answer, isBusy } = useAnswer()
  const [isAsking, setAsking] = useState(false)
  const send = async (choice: Answer, decision: Decision) => {
    await answer(item, choice, decision)
    onAnswered(choice)
  }
  const sendAnswer = (choice: 'confirm' | 'differently') => {
    if (!isBusy) send(choice, decisions[choice]).catch(toastProblem)
  }
  /** Ignores keys for another focused row of the list. */
  const ifFocused = (act: () => void) => () => {
    const key = focusedKey()
    if (key === undefined || key === checksKey(item.group)) act()
  }
  useKeys({
    a: ifFocused(() => sendAnswer('confirm')),
    d: ifFocused(() => setAsking(true)),
    r: ifFocused(() => sendAnswer('differently')),
  })
  return (
    <div role="group" aria-label="Was this correct?" className="grid gap-1.5">
      {answers.map(({ choice, keys, tone }) => (
        <div
          key={choice}
          className="grid grid-cols-[248px_minmax(0,1fr)] items-center gap-x-3 gap-y-1 max-sm:grid-cols-[minmax(0,1fr)] [&>button]:w-full"
        >
          <Button
            size="sm"
            tone={tone}
            keys={keys}
            disabled={isBusy}
            onClick={() => (choice === 'wrong' ? setAsking(true) : sendAnswer(choice))}
          >
            {answerLabels[choice]}
          </Button>
          <SafeText as="p" className="text-xs text-soft" text={consequences[choice]} />
        </div>
      ))}
      {isAsking && (
        <WrongDialog
          item={item}
          faults={faults}
          send={(decision) => send('wrong', decision)}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  )
}
