import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { onPasskeyRequired } from '../api.ts'
import { assertPasskey } from '../passkey.ts'
import { meQuery, queries } from '../queries.ts'
import { Button } from './Button.tsx'
import { Dialog, DialogActions } from './Dialog.tsx'
import { ErrorNote } from './ErrorNote.tsx'

/** Any act of high risk may ask for the passkey; once it is shown, the act goes on by itself (I6). */
export function StepUp() {
  const [answer, setAnswer] = useState<((isAssured: boolean) => void) | undefined>()
  useEffect(() => {
    onPasskeyRequired(() => new Promise((resolve) => setAnswer(() => resolve)))
  }, [])
  if (!answer) return null
  const settle = (isAssured: boolean) => {
    setAnswer(undefined)
    answer(isAssured)
  }
  return <StepUpDialog onSettle={settle} />
}

function StepUpDialog({ onSettle }: { onSettle: (isAssured: boolean) => void }) {
  const show = useMutation({
    mutationFn: assertPasskey,
    onSuccess: () => {
      void queries.invalidateQueries(meQuery)
      onSettle(true)
    },
  })
  return (
    <Dialog title="Confirm with your passkey" onClose={() => onSettle(false)}>
      <p className="text-soft">
        This changes who may act here. Your passkey shows that it is you, and not a program on this
        computer. It counts for five minutes.
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
