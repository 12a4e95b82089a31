import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { onPasskeyRequired } from '../api/client.ts'
import { assertPasskey } from '../api/passkey.ts'
import { meQuery, queryClient } from '../api/queries.ts'
import { Button } from '../shared/Button.tsx'
import { Dialog, DialogActions } from '../shared/Dialog.tsx'
import { ErrorNote } from '../shared/States.tsx'

/** Asks for the passkey when an action requires it; the action then continues (I6). */
export function StepUp() {
  const [asked, setAsked] = useState<Asked | undefined>()
  useEffect(() => {
    onPasskeyRequired((decision) => new Promise((answer) => setAsked({ decision, answer })))
  }, [])
  if (!asked) return null
  const settle = (isAssured: boolean) => {
    setAsked(undefined)
    asked.answer(isAssured)
  }
  return <StepUpDialog decision={asked.decision} onSettle={settle} />
}

type Asked = {
  readonly decision: string | undefined
  readonly answer: (isAssured: boolean) => void
}

type StepUpProps = Pick<Asked, 'decision'> & { readonly onSettle: Asked['answer'] }

function StepUpDialog({ decision, onSettle }: StepUpProps) {
  const show = useMutation({
    mutationFn: () => assertPasskey(decision),
    onSuccess: () => {
      void queryClient.invalidateQueries(meQuery)
      onSettle(true)
    },
  })
  return (
    <Dialog title="Confirm with passkey" onClose={() => onSettle(false)}>
      <p className="text-soft">
        {decision === undefined
          ? 'Confirm with your passkey to change agents, people or permissions. Valid for 5 minutes.'
          : 'This decision is high risk. The passkey confirms only this decision.'}
      </p>
      <ErrorNote error={show.error} />
      <DialogActions>
        <Button onClick={() => onSettle(false)}>Cancel</Button>
        <Button
          tone="primary"
          icon="key"
          data-autofocus
          disabled={show.isPending}
          onClick={() => show.mutate()}
        >
          Use passkey
        </Button>
      </DialogActions>
    </Dialog>
  )
}
