import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { needsOverride } from '../approval.ts'
import type { Item } from '../approval.ts'
import { Button } from '../../shared/Button.tsx'
import { Dialog, DialogActions } from '../../shared/Dialog.tsx'
import { ErrorNote } from '../../shared/ErrorNote.tsx'
import { TextArea } from '../../shared/Field.tsx'
import { Plain } from '../../shared/Plain.tsx'
import { plainString } from '../../shared/plain.ts'
import { approvalQuery } from '../approval-queries.ts'
import { TrustChange } from '../item/TrustChange.tsx'
import { useDecision } from './use-decision.ts'
import type { Sending } from './use-decision.ts'

/** Back to the agent with what it did not know: a denial that says how to go on. */
export function HandBackDialog({ item, ...sending }: Sending & { item: Item }) {
  const [text, setText] = useState('')
  const { submit, error, isPending } = useDecision(sending, [item])
  const isJudged = needsOverride(item)
  const { data } = useQuery(approvalQuery(item.id))
  const effect = data?.effect.overrides.find(
    ({ type, severity }) => type === 'missing_context' && severity === 'medium',
  )
  const said = text.trim()
  return (
    <Dialog title="Hand back" onClose={sending.onClose}>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          submit({
            decision: 'reject',
            reason: said,
            ...(isJudged && {
              override: { type: 'missing_context', severity: 'medium', description: said },
            }),
          })
        }}
      >
        <p className="text-soft">
          <Plain text={item.summary} />
        </p>
        <TextArea
          label={`Instructions for ${plainString(item.requester)}`}
          hint={
            isJudged
              ? 'It is denied as “missing context”, and the agent reads this.'
              : 'It is denied without a change of trust, and the agent reads this.'
          }
          rows={4}
          required
          maxLength={2000}
          data-autofocus
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        {isJudged && data && effect && (
          <TrustChange
            from={data.effect.approve?.from ?? data.trust_level}
            to={effect.to}
            thresholds={data.why.thresholds}
          />
        )}
        <ErrorNote error={error} />
        <DialogActions>
          <Button onClick={sending.onClose}>Cancel</Button>
          <Button tone="primary" type="submit" disabled={isPending || said === ''}>
            Hand back
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
