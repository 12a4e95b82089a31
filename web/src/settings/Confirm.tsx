import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Button } from '../shared/Button.tsx'
import { Dialog, DialogActions } from '../shared/Dialog.tsx'
import { ErrorNote } from '../shared/ErrorNote.tsx'
import { toast } from '../shared/toast.ts'

type Props<T> = {
  title: string
  /** What happens next, before it happens. */
  children: ReactNode
  action: string
  act: () => Promise<T>
  /** What was done, by what came of it. */
  done: string | ((came: T) => string)
  onClose: () => void
}

export function Confirm<T>({ title, children, action, act, done, onClose }: Props<T>) {
  const doIt = useMutation({
    mutationFn: act,
    onSuccess: (came) => {
      toast(typeof done === 'string' ? done : done(came))
      onClose()
    },
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="text-soft">{children}</div>
      <ErrorNote error={doIt.error} />
      <DialogActions>
        <Button onClick={onClose} data-autofocus>
          Cancel
        </Button>
        <Button tone="danger" disabled={doIt.isPending} onClick={() => doIt.mutate()}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
