import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Detail, Item, OverrideType, Severity } from '../approval.ts'
import type { Answer } from '../decision.ts'
import { Button } from '../../shared/Button.tsx'
import { Dialog, DialogActions } from '../../shared/Dialog.tsx'
import { ErrorNote } from '../../shared/ErrorNote.tsx'
import { Choices, TextArea } from '../../shared/Field.tsx'
import { Plain } from '../../shared/Plain.tsx'
import { plainString } from '../../shared/plain.ts'
import { approvalQuery } from '../approval-queries.ts'
import { OverrideKind } from './DenyDialog.tsx'
import { useFollow } from '../item/use-follow.ts'

type Props = {
  item: Item
  /** Asked for as “hand back”. */
  handsBack: boolean
  answer: (item: Item, answer: Answer) => Promise<void>
  onClose: () => void
}

/** Answers what an agent handed over, and decides the proposal it is about in the same act (H2, H6). */
export function ResolveDialog({ item, handsBack, answer, onClose }: Props) {
  const [resolution, setResolution] = useState('')
  const [isBack, setBack] = useState(handsBack)
  const [instructions, setInstructions] = useState('')
  const proposal = useNamedProposal(item)
  const [verdict, setVerdict] = useState<'leave' | 'approve' | 'reject'>('leave')
  const [type, setType] = useState<OverrideType>()
  const [severity, setSeverity] = useState<Severity>('medium')
  const said = resolution.trim()
  const told = instructions.trim()
  const decided = proposal && verdict !== 'leave' ? verdict : undefined
  const isFit = said !== '' && (!isBack || told !== '') && (decided !== 'reject' || type)
  const send = useMutation({
    mutationFn: () =>
      answer(item, {
        resolution: said,
        hand_back: isBack,
        ...(isBack && { instructions: told }),
        ...(decided && { decide_proposal: decided }),
        ...(decided === 'reject' && type && { override_type: type, severity, description: said }),
      }),
    onSuccess: onClose,
  })
  return (
    <Dialog title={isBack ? 'Resolve and hand back' : 'Resolve'} onClose={onClose} wide>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (isFit) send.mutate()
        }}
      >
        <p className="text-soft">
          <Plain text={item.summary} />
        </p>
        <TextArea
          label="What you did or decided"
          rows={3}
          required
          maxLength={10_000}
          data-autofocus
          value={resolution}
          onChange={(event) => setResolution(event.target.value)}
        />
        <div className="grid justify-items-start gap-1">
          <p className="text-xs font-semibold text-soft">Who goes on</p>
          <Choices
            label="Who goes on"
            value={isBack ? 'agent' : 'person'}
            choices={[
              { value: 'person', label: 'A person: the agent leaves it' },
              { value: 'agent', label: `${plainString(item.requester)}, with instructions` },
            ]}
            onChoose={(value) => setBack(value === 'agent')}
          />
        </div>
        {isBack && (
          <TextArea
            label={`Instructions for ${plainString(item.requester)}`}
            hint="It reads them with cowork_check_handoff, until it says that it has them."
            rows={3}
            required
            maxLength={10_000}
            value={instructions}
            onChange={(event) => setInstructions(event.target.value)}
          />
        )}
        {proposal && (
          <fieldset className="grid gap-2 border-t border-line pt-3">
            <legend className="sr-only">Its proposal</legend>
            <p className="text-soft">
              Its proposal waits, too: <Plain text={proposal.summary} />
            </p>
            <div>
              <Choices
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
              <OverrideKind
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
        <ErrorNote error={send.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" disabled={send.isPending || !isFit}>
            {isBack ? 'Resolve and hand back' : 'Resolve'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

/** The proposal that the handoff names, while it can be decided. */
function useNamedProposal(item: Item): Detail | undefined {
  const named = useQuery(approvalQuery(item.id)).data?.handoff?.proposal_id ?? undefined
  const { data } = useQuery({ ...approvalQuery(named ?? ''), enabled: named !== undefined })
  useFollow(named ?? '', data)
  return data?.status === 'pending' && !data.held ? data : undefined
}
