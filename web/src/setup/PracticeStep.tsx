import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useSyncExternalStore } from 'react'
import { isEditable, isReturnable } from '../inbox/approval.ts'
import type { Item } from '../inbox/approval.ts'
import { refreshItems, useQueue } from '../inbox/queue.ts'
import { useKeys } from '../shared/use-keys.ts'
import { Button, buttonClass } from '../shared/Button.tsx'
import { ErrorNote, Loading } from '../shared/States.tsx'
import { Icon } from '../shared/Icon.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { toastProblem } from '../shared/toast.ts'
import { isOpen, practiceAgent, practiceRound, startPracticeRound } from './practice.ts'
import { ActionDialog } from '../inbox/dialog/ActionDialog.tsx'
import { ItemDetail } from '../inbox/item/ItemDetail.tsx'
import { useActions } from '../inbox/use-actions.ts'
import { Step } from './Step.tsx'
import type { StepProps } from './SetupPage.tsx'

/** A practice agent sends requests, and the person decides with the real Inbox components. */
export function PracticeStep({ onNext }: StepProps) {
  const now = useSyncExternalStore(practiceRound.subscribe, practiceRound.get)
  const start = useMutation({ mutationFn: startPracticeRound })
  if (now)
    return (
      <RunningRound
        ids={now.ids}
        onNext={onNext}
        onAgain={() => start.mutate(undefined, { onError: toastProblem })}
      />
    )
  return (
    <Step
      title="Practice round"
      lead="A practice agent proposes a change and requests access to a folder. Everything you allow ends with the round."
      actions={
        <>
          <Button tone="primary" disabled={start.isPending} onClick={() => start.mutate()}>
            Start practice round
          </Button>
          <Button onClick={onNext}>Not now</Button>
        </>
      }
    >
      <ErrorNote error={start.error} />
    </Step>
  )
}

type PlayingProps = StepProps & { ids: readonly string[]; onAgain: () => void }

function RunningRound({ ids, onNext, onAgain }: PlayingProps) {
  const { items } = useQueue()
  const asked = ids.map((id) => items.get(id))
  const open = asked.find((item) => item && isOpen(item))
  const isDone = asked.every((item) => item && !isOpen(item))
  useEffect(() => refreshItems(ids), [ids])
  if (open) return <Deciding key={open.id} item={open} />
  if (!isDone) return <Loading what="the practice requests" rows={4} />
  return (
    <Step
      title="Practice round complete"
      lead="Requests appear in the Inbox; decisions are recorded in the ledger. The practice agent and its access are removed."
      actions={
        <>
          <Button tone="primary" onClick={onNext}>
            Open Inbox
          </Button>
          <Link to="/audit" search={{ actor: practiceAgent }} className={buttonClass()}>
            Show entries
          </Link>
          <Button tone="quiet" onClick={onAgain}>
            Repeat
          </Button>
        </>
      }
    >
      <ul aria-label="Decisions" className="border-t border-line">
        {asked.map((item) => item && <Decided key={item.id} item={item} />)}
      </ul>
    </Step>
  )
}

const Decided = ({ item }: { item: Item }) => {
  const isAllowed = item.status === 'approved' || item.held?.decision === 'approve'
  return (
    <li className="flex items-center gap-2.5 border-b border-line py-2">
      <Icon
        name={isAllowed ? 'check' : 'stop'}
        className={isAllowed ? 'text-act' : 'text-escalate'}
      />
      <SafeText as="span" className="min-w-0 flex-1 break-words" text={item.summary} />
      <span className="text-xs text-soft">{isAllowed ? 'Approved' : 'Rejected'}</span>
    </li>
  )
}

const noop = () => {}

function Deciding({ item }: { item: Item }) {
  const acts = useActions([], undefined, noop)
  useKeys({
    a: () => acts.approve([item]),
    d: () => acts.start('deny', [item]),
    ...(isEditable(item) && { e: () => acts.start('edit', [item]) }),
    ...(isReturnable(item) && { r: () => acts.start('hand_back', [item]) }),
  })
  return (
    <div className="flex min-h-0 flex-1">
      <ItemDetail id={item.id} actions={acts} mayDecide isAlone />
      {acts.pending && <ActionDialog pending={acts.pending} acts={acts} />}
    </div>
  )
}
