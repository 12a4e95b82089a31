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
  const [request, setRequest] = useState<PasskeyRequest | undefined>()
  useEffect(() => {
    onPasskeyRequired((decision) => new Promise((answer) => setRequest({ decision, answer })))
  }, [])
  if (!request) return null
  const finish = (isConfirmed: boolean) => {
    setRequest(undefined)
    request.answer(isConfirmed)
  }
  return <StepUpDialog decision={request.decision} onFinish={finish} />
}

type PasskeyRequest = {
  readonly decision: string | undefined
  readonly answer: (isAssured: boolean) => void
}

type StepUpProps = Pick<PasskeyRequest, 'decision'> & {
  readonly onFinish: PasskeyRequest['answer']
}

function StepUpDialog({ decision, onFinish }: StepUpProps) {
  const assertion = useMutation({
    mutationFn: () => assertPasskey(decision),
    onSuccess: () => {
      void queryClient.invalidateQueries(meQuery)
      onFinish(true)
    },
  })
  return (
    <Dialog title="Confirm with passkey" onClose={() => onFinish(false)}>
      <p className="text-soft">
        {decision === undefined
          ? 'Confirm with your passkey to change agents, people or permissions. Valid for 5 minutes.'
          : 'This decision is high risk. The passkey confirms only this decision.'}
      </p>
      <ErrorNote error={assertion.error} />
      <DialogActions>
        <Button onClick={() => onFinish(false)}>Cancel</Button>
        <Button
          tone="primary"
          icon="key"
          data-autofocus
          disabled={assertion.isPending}
          onClick={() => assertion.mutate()}
        >
          Use passkey
        </Button>
      </DialogActions>
    </Dialog>
  )
}
