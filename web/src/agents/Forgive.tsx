import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { forgivenText, riskWords } from './class-standing.ts'
import type { ClassStanding } from './class-standing.ts'
import type { Standing } from './standing.ts'
import { call } from '../api/client.ts'
import { Button } from '../shared/Button.tsx'
import { Dialog, DialogActions } from '../shared/Dialog.tsx'
import { ErrorNote } from '../shared/ErrorNote.tsx'
import { TextArea } from '../shared/Field.tsx'
import { Plain } from '../shared/Plain.tsx'
import { Note } from '../shared/States.tsx'
import { plainString } from '../shared/plain.ts'
import { toast } from '../shared/toast.ts'
import { pairKey, standingsQuery } from './agent-queries.ts'

type Props = { standing: Standing; given: ClassStanding; onClose: () => void }

/** Clears strikes and debt of one class of risk, with a reason (T16). */
export function Forgive({ standing: { agent_id: agent, domain }, given, onClose }: Props) {
  const client = useQueryClient()
  const [reason, setReason] = useState('')
  const { risk, credit } = given
  const forgive = useMutation({
    mutationFn: () =>
      call('cowork_forgive', { agent_id: agent, domain, risk, reason: reason.trim() }),
    onSuccess: async () => {
      toast(`Forgave ${plainString(agent)} in ${plainString(domain)}.`)
      onClose()
      await client.invalidateQueries(standingsQuery)
      await client.invalidateQueries({ queryKey: pairKey(agent, domain) })
    },
  })
  return (
    <Dialog title="Forgive" onClose={onClose}>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          forgive.mutate()
        }}
      >
        <p className="text-soft">
          <Plain text={agent} /> in <Plain text={domain} />, {riskWords[risk].toLowerCase()}.
        </p>
        <Note tone="suggest" icon="info">
          Clears {forgivenText(given)}. Right actions that it still needs:{' '}
          {credit.needed - Math.max(0, credit.now)}.
        </Note>
        <TextArea
          label="Reason"
          hint="For whoever asks later. It stands in the ledger."
          rows={2}
          required
          maxLength={2000}
          data-autofocus
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
        <ErrorNote error={forgive.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" disabled={forgive.isPending || reason.trim() === ''}>
            Forgive
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
