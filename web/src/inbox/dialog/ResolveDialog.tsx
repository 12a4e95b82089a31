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
  /** Asked for as “hand back”. */
  handsBack: boolean
  answer: (item: Item, answer: HandoffAnswer) => Promise<void>
  onClose: () => void
}

/** Answers what an agent handed over, and decides the proposal it is about in the same act (H2, H6). */
export function ResolveDialog({ item, handsBack, answer, onClose }: Props) {
  const resolution = useField()
  const [isBack, setBack] = useState(handsBack)
  const instructions = useField()
  const proposal = useNamedProposal(item)
  const [verdict, setVerdict] = useState<'leave' | 'approve' | 'reject'>('leave')
  const [type, setType] = useState<OverrideType>()
  const [severity, setSeverity] = useState<Severity>('medium')
  const said = resolution.value.trim()
  const told = instructions.value.trim()
  const decided = proposal && verdict !== 'leave' ? verdict : undefined
  const isDenied = decided === 'reject'
  const title = isBack ? 'Resolve and hand back' : 'Resolve'
  const send = () =>
    answer(item, {
      resolution: said,
      hand_back: isBack,
      ...(isBack && { instructions: told }),
      ...(decided && { decide_proposal: decided }),
      ...(isDenied && type && { override_type: type, severity, description: said }),
    })
  return (
    <FormDialog
      title={title}
      wide
      action={title}
      isFit={said !== '' && (!isBack || told !== '') && (!isDenied || type !== undefined)}
      act={send}
      onClose={onClose}
    >
      <SafeText as="p" className="text-soft" text={item.summary} />
      <TextArea
        label="What you did or decided"
        rows={3}
        required
        maxLength={10_000}
        data-autofocus
        {...resolution}
      />
      <div className="grid justify-items-start gap-1">
        <p className="text-xs font-semibold text-soft">Who goes on</p>
        <RadioGroup
          label="Who goes on"
          value={isBack ? 'agent' : 'person'}
          choices={[
            { value: 'person', label: 'A person: the agent leaves it' },
            { value: 'agent', label: `${sanitizeText(item.requester)}, with instructions` },
          ]}
          onChoose={(value) => setBack(value === 'agent')}
        />
      </div>
      {isBack && (
        <TextArea
          label={`Instructions for ${sanitizeText(item.requester)}`}
          hint="It reads them with cowork_check_handoff, until it says that it has them."
          rows={3}
          required
          maxLength={10_000}
          {...instructions}
        />
      )}
      {proposal && (
        <fieldset className="grid gap-2 border-t border-line pt-3">
          <legend className="sr-only">Its proposal</legend>
          <p className="text-soft">
            Its proposal waits, too: <SafeText text={proposal.summary} />
          </p>
          <div>
            <RadioGroup
              label="Its proposal"
              value={verdict}
              choices={[
                { value: 'leave', label: 'Leave it waiting' },
                { value: 'approve', label: 'Approve it' },
                { value: 'reject', label: 'Override it' },
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
