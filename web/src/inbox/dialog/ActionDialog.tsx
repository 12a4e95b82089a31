import { useQuery } from '@tanstack/react-query'
import { TextArea, TextField, useField } from '../../shared/Field.tsx'
import { FormDialog } from '../../shared/Dialog.tsx'
import { SafeText } from '../../shared/SafeText.tsx'
import { sanitizeText } from '../../shared/sanitize.ts'
import { useNow } from '../../shared/use-now.ts'
import { approvalQuery } from '../approval-queries.ts'
import { isHandoff, needsOverride } from '../approval.ts'
import type { Item } from '../approval.ts'
import { dateInDays, parseUntil } from '../grant.ts'
import { ConflictText } from '../item/ApprovalReason.tsx'
import { TrustChange } from '../item/TrustChange.tsx'
import type { Actions, PendingAction, DecisionForm } from '../use-actions.ts'
import { AllowDialog } from './AllowDialog.tsx'
import { RejectDialog } from './RejectDialog.tsx'
import { EditDialog } from './EditDialog.tsx'
import { ResolveDialog } from './ResolveDialog.tsx'
import { SnoozeDialog } from './SnoozeDialog.tsx'

export function ActionDialog({
  pending: { name, items },
  acts,
}: {
  pending: PendingAction
  acts: Actions
}) {
  const [item] = items
  const common = { onClose: acts.closeDialog, send: acts.send }
  if (name === 'snooze')
    return <SnoozeDialog items={items} onClose={acts.closeDialog} onDone={acts.skip} />
  if (name === 'deny') return <RejectDialog {...common} items={items} />
  if (!item) return null
  if (name === 'resolve' || (name === 'hand_back' && isHandoff(item)))
    return (
      <ResolveDialog
        item={item}
        handsBack={name === 'hand_back'}
        answer={acts.answer}
        onClose={acts.closeDialog}
      />
    )
  if (name === 'conflict') return <ConflictDialog {...common} item={item} />
  if (name === 'until') return <ExpiryDialog {...common} item={item} />
  if (name === 'edit') return <EditDialog {...common} item={item} />
  return name === 'allow' ? (
    <AllowDialog {...common} item={item} />
  ) : (
    <HandBackDialog {...common} item={item} />
  )
}

/** The second confirmation for a request that the active policy blocks. */
function ConflictDialog({ item, send, onClose }: DecisionForm & { item: Item }) {
  const { policy_conflict: conflict } = item
  if (!conflict) return null
  return (
    <FormDialog
      title="Approve against the active policy?"
      action="Approve anyway"
      tone="danger"
      isCautious
      act={() => send([item], { decision: 'approve', acknowledge_policy: conflict.version })}
      onClose={onClose}
    >
      <SafeText as="p" className="text-soft" text={item.summary} />
      <ConflictText conflict={conflict} />
      <p className="text-soft">The ledger records this exception.</p>
    </FormDialog>
  )
}

/** Grants access until a time (GR3). */
function ExpiryDialog({ item, send, onClose }: DecisionForm & { item: Item }) {
  const now = useNow()
  const field = useField(dateInDays(1, now))
  const asked = parseUntil(field.value, now)
  const until = 'until' in asked ? asked.until : undefined
  return (
    <FormDialog
      title="Allow until…"
      action="Allow"
      isFit={until !== undefined}
      act={() =>
        send([item], {
          decision: 'approve',
          grant: { choice: 'until', ...(until !== undefined && { until }) },
        })
      }
      onClose={onClose}
    >
      <SafeText as="p" className="break-all text-soft" text={item.target} />
      <TextField
        label="Until"
        type="datetime-local"
        data-autofocus
        hint={'lacks' in asked ? asked.lacks : 'Access ends automatically.'}
        {...field}
      />
    </FormDialog>
  )
}

/** Rejects an item with instructions for the agent. */
function HandBackDialog({ item, send, onClose }: DecisionForm & { item: Item }) {
  const text = useField()
  const isJudged = needsOverride(item)
  const { data } = useQuery(approvalQuery(item.id))
  const effect = data?.effect.overrides.find(
    ({ type, severity }) => type === 'missing_context' && severity === 'medium',
  )
  const instructions = text.value.trim()
  const override = {
    type: 'missing_context',
    severity: 'medium',
    description: instructions,
  } as const
  return (
    <FormDialog
      title="Hand back"
      action="Hand back"
      isFit={instructions !== ''}
      act={() =>
        send([item], { decision: 'reject', reason: instructions, ...(isJudged && { override }) })
      }
      onClose={onClose}
    >
      <SafeText as="p" className="text-soft" text={item.summary} />
      <TextArea
        label={`Instructions for ${sanitizeText(item.requester)}`}
        hint={
          isJudged
            ? 'Rejects as “missing context”. The agent receives this text.'
            : 'Rejects without a trust change. The agent receives this text.'
        }
        rows={4}
        required
        maxLength={2000}
        data-autofocus
        {...text}
      />
      {isJudged && data && effect && (
        <TrustChange
          from={data.effect.approve?.from ?? data.trust_level}
          to={effect.to}
          thresholds={data.why.thresholds}
        />
      )}
    </FormDialog>
  )
}
