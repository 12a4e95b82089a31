import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { narrowestChoice } from '../grant.ts'
import { isAllowable, isEditable, isHandoff, isReturnable } from '../approval.ts'
import type { Decision, Detail, GrantRequest, Item } from '../approval.ts'
import { undo } from '../decision.ts'
import { formatTrustEffect, rejectLabel, secondsUntil } from '../text.ts'
import { Button, UndoLabel } from '../../shared/Button.tsx'
import { SelectField } from '../../shared/Field.tsx'
import { meQuery } from '../../api/queries.ts'
import { policiesQuery } from '../../policies/policy-queries.ts'
import { toastProblem } from '../../shared/toast.ts'
import { useSecond } from '../../shared/use-now.ts'
import type { Actions } from '../use-actions.ts'
import { usePersonName } from '../use-person-name.ts'

type Props = { item: Item; detail: Detail; actions: Actions; mayDecide: boolean }

/** The possible actions with their keys and effects (C2). */
export function Footer({ item, detail, actions, mayDecide }: Props) {
  const me = useQuery(meQuery).data?.person.id
  if (item.status !== 'pending') return null
  if (item.held) return <Held item={item} held={item.held} />
  if (!mayDecide)
    return <Bar>{<p className="text-soft">View only. Reviewers and owners can decide.</p>}</Bar>
  if (isHandoff(item)) return <HandoffBar item={item} acts={actions} />
  if (detail.grant) return <GrantBar item={item} grant={detail.grant} acts={actions} />
  const hasApproved = me !== undefined && item.approvers.given.includes(me)
  const lacksPolicy = item.kind === 'permission' && actions.policies[item.id] === undefined
  const one = [item]
  const isDisabled = actions.isBusy || hasApproved
  return (
    <Bar>
      {item.kind === 'permission' && <PolicyChoice item={item} acts={actions} />}
      <Row>
        <Button
          tone="primary"
          keys="a"
          disabled={isDisabled || lacksPolicy}
          onClick={() => actions.approve(one)}
        >
          {approveLabels[item.kind] ?? 'Approve'}
        </Button>
        {isAllowable(item) && (
          <Button disabled={isDisabled} onClick={() => actions.start('allow', one)}>
            Allow…
          </Button>
        )}
        {isEditable(item) && (
          <Button keys="e" disabled={isDisabled} onClick={() => actions.start('edit', one)}>
            {item.kind === 'call' ? 'Edit…' : 'Edit and approve'}
          </Button>
        )}
        <Button keys="d" disabled={actions.isBusy} onClick={() => actions.start('deny', one)}>
          {rejectLabel(item)}
        </Button>
        {isReturnable(item) && <HandBack item={item} acts={actions} />}
      </Row>
      <Aside>
        {hasApproved ? (
          'You approved. 1 more approval required.'
        ) : (
          <Effect item={item} detail={detail} />
        )}
      </Aside>
    </Bar>
  )
}

const Row = ({ children }: { children: ReactNode }) => (
  <div className="flex flex-wrap gap-2 max-md:grid max-md:w-full max-md:grid-cols-2">
    {children}
  </div>
)

const Aside = ({ children }: { children: ReactNode }) => (
  <p className="ml-auto min-w-24 flex-1 text-right text-xs leading-4 text-faint max-md:order-first max-md:basis-full max-md:text-left">
    {children}
  </p>
)

type ActionProps = { item: Item; acts: Actions }

const HandBack = ({ item, acts }: ActionProps) => (
  <Button keys="r" disabled={acts.isBusy} onClick={() => acts.start('hand_back', [item])}>
    Hand back
  </Button>
)

const HandoffBar = ({ item, acts }: ActionProps) => (
  <Bar>
    <Row>
      <Button
        tone="primary"
        keys="a"
        disabled={acts.isBusy}
        onClick={() => acts.start('resolve', [item])}
      >
        Resolve
      </Button>
      <HandBack item={item} acts={acts} />
    </Row>
    <Aside>Open until resolved</Aside>
  </Bar>
)

/** Offers the narrowest choice. Wider ones are in the list above, to prevent accidental approval (C2). */
function GrantBar({ item, grant, acts }: ActionProps & { grant: GrantRequest }) {
  const narrowest = narrowestChoice(grant)
  const answer = (decision: Decision) => void acts.send([item], decision).catch(toastProblem)
  return (
    <Bar>
      <div className="flex flex-wrap gap-2 max-md:grid max-md:w-full max-md:grid-cols-[auto_minmax(0,1fr)]">
        {narrowest && (
          <Button
            tone="primary"
            keys="a"
            className="max-md:col-span-2"
            disabled={acts.isBusy}
            onClick={() => acts.approve([item])}
          >
            {narrowest.label}
          </Button>
        )}
        <Button keys="d" disabled={acts.isBusy} onClick={() => acts.start('deny', [item])}>
          Deny
        </Button>
        <Button
          tone="quiet"
          disabled={acts.isBusy}
          onClick={() => answer({ decision: 'reject', grant: { choice: 'deny_always' } })}
        >
          Deny and don’t ask again
        </Button>
      </div>
    </Bar>
  )
}

const approveLabels: Record<string, string> = {
  call: 'Approve once',
  permission: 'Allow in this domain',
  finding: 'Keep access',
}

const effects: Record<string, string> = {
  call: 'Runs once with these arguments',
  permission: 'The policy applies to this domain',
  finding: 'The access stays as it is',
}

/** Keeps the numbers on one line. */
function Effect({ item: { kind }, detail: { effect } }: { item: Item; detail: Detail }) {
  const [effectText, numbers] = formatTrustEffect(effect.approve)?.split(': ') ?? []
  if (!numbers) return effectText ?? effects[kind] ?? 'Trust unchanged'
  return (
    <>
      {effectText}: <span className="whitespace-nowrap">{numbers}</span>
    </>
  )
}

const Bar = ({ children }: { children: ReactNode }) => (
  <footer
    ref={publishHeight}
    className="sticky bottom-0 mt-auto flex flex-wrap items-center gap-x-3 gap-y-2 border-t border-line bg-bg/90 px-7 py-3 backdrop-blur-sm max-md:px-4"
  >
    {children}
  </footer>
)

/** Publishes the height of the bar, so that no toast covers a decision (C11). */
function publishHeight(bar: HTMLElement | null) {
  if (!bar) return undefined
  const { style } = document.documentElement
  const watch = new ResizeObserver(() => style.setProperty('--bar', `${bar.offsetHeight}px`))
  watch.observe(bar)
  return () => {
    watch.disconnect()
    style.removeProperty('--bar')
  }
}

function Held({ item, held }: { item: Item; held: NonNullable<Item['held']> }) {
  const who = usePersonName(held.by)
  const left = secondsUntil(held.until, useSecond())
  const verb = held.decision === 'approve' ? 'Approved' : 'Rejected'
  return (
    <Bar>
      <p role="status">
        {verb} by {who(held.by)}
      </p>
      <Button
        icon="undo"
        keys="z"
        className="ml-auto"
        onClick={() => void undo({ ids: [item.id], label: verb, until: held.until })}
      >
        <UndoLabel seconds={left} />
      </Button>
    </Bar>
  )
}

function PolicyChoice({ item, acts }: ActionProps) {
  const { data, error } = useQuery(policiesQuery)
  if (error) return <p className="basis-full text-escalate">Cannot read the policies.</p>
  if (data?.policies.length === 0)
    return (
      <p className="basis-full text-soft">
        No policies.{' '}
        <Link to="/policies/edit" className="underline underline-offset-3">
          Write a policy
        </Link>{' '}
        first.
      </p>
    )
  return (
    <div className="basis-full">
      <SelectField
        label="Policy"
        value={acts.policies[item.id] ?? ''}
        onChange={(event) => acts.choosePolicy(item.id, event.target.value)}
        choices={[
          { value: '', label: 'Choose…' },
          ...(data?.policies ?? []).map(({ id, description, rules }) => ({
            value: id,
            label: `${id}${description ? `: ${description}` : ''} (${rules === 1 ? '1 rule' : `${rules} rules`})`,
          })),
        ]}
      />
    </div>
  )
}
