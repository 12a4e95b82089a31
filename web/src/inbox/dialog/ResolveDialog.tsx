import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { OverrideType, Severity } from '#base/override.ts'
import type { Detail, Item } from '../approval.ts'
import type { HandoffAnswer } from '../decision.ts'
import { RadioGroup, TextArea, useField } from '../../shared/Field.tsx'
import { FormDialog } from '../../shared/Dialog.tsx'
import { SafeText } from '../../shared/SafeText.tsx'
import { sanitizeText } from '../../shared/sanitize.ts'
import { approvalQuery, useRefreshItem } from '../approval-queries.ts'
import { OverrideFields } from './RejectDialog.tsx'

type Props = {
  item: Item
  /** Opened as “Hand back”. */
  handsBack: boolean
  answer: (item: Item, answer: HandoffAnswer) => Promise<void>
  onClose: () => void
}

/** Resolves a handoff and its proposal in one call (H2, H6). */
export function ResolveDialog({ item, handsBack, answer, onClose }: Props) {
  const resolution = useField()
  const [handsBackNow, setBack] = useState(handsBack)
  const instructions = useField()
  const proposal = useNamedProposal(item)
  const [verdict, setVerdict] = useState<'leave' | 'approve' | 'reject'>('leave')
  const [type, setType] = useState<OverrideType>()
  const [severity, setSeverity] = useState<Severity>('medium')
  const resolutionText = resolution.value.trim()
  const instructionText = instructions.value.trim()
  const decided = proposal && verdict !== 'leave' ? verdict : undefined
  const isRejected = decided === 'reject'
  const title = handsBackNow ? 'Resolve and hand back' : 'Resolve'
  const send = () =>
    answer(item, {
      resolution: resolutionText,
      hand_back: handsBackNow,
      ...(handsBackNow && { instructions: instructionText }),
      ...(decided && { decide_proposal: decided }),
      ...(isRejected && type && { override_type: type, severity, description: resolutionText }),
    })
  return (
    <FormDialog
      title={title}
      wide
      action={title}
      isFit={
        resolutionText !== '' &&
        (!handsBackNow || instructionText !== '') &&
        (!isRejected || type !== undefined)
      }
      act={send}
      onClose={onClose}
    >
      <SafeText as="p" className="text-soft" text={item.summary} />
      <TextArea
        label="Resolution"
        rows={3}
        required
        maxLength={10_000}
        data-autofocus
        {...resolution}
      />
      <div className="grid justify-items-start gap-1">
        <p className="text-xs font-semibold text-soft">Next owner</p>
        <RadioGroup
          label="Next owner"
          value={handsBackNow ? 'agent' : 'person'}
          choices={[
            { value: 'person', label: 'Person' },
            { value: 'agent', label: `${sanitizeText(item.requester)}, with instructions` },
          ]}
          onChoose={(value) => setBack(value === 'agent')}
        />
      </div>
      {handsBackNow && (
        <TextArea
          label={`Instructions for ${sanitizeText(item.requester)}`}
          hint="The agent receives the instructions until it acknowledges them."
          rows={3}
          required
          maxLength={10_000}
          {...instructions}
        />
      )}
      {proposal && (
        <fieldset className="grid gap-2 border-t border-line pt-3">
          <legend className="sr-only">Related proposal</legend>
          <p className="text-soft">
            Pending proposal: <SafeText text={proposal.summary} />
          </p>
          <div>
            <RadioGroup
              label="Related proposal"
              value={verdict}
              choices={[
                { value: 'leave', label: 'Leave pending' },
                { value: 'approve', label: 'Approve' },
                { value: 'reject', label: 'Reject' },
              ]}
              onChoose={setVerdict}
            />
          </div>
          {verdict === 'reject' && (
            <OverrideFields
              items={[proposal]}
              isNeeded
              type={type}
              severity={severity}
              onType={setType}
              onSeverity={setSeverity}
            />
          )}
        </fieldset>
      )}
    </FormDialog>
  )
}

function useNamedProposal(item: Item): Detail | undefined {
  const named = useQuery(approvalQuery(item.id)).data?.handoff?.proposal_id ?? undefined
  const { data } = useQuery({ ...approvalQuery(named ?? ''), enabled: named !== undefined })
  useRefreshItem(named ?? '', data)
  return data?.status === 'pending' && !data.held ? data : undefined
}
