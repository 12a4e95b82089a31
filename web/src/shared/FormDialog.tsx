import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Button } from './Button.tsx'
import { Dialog, DialogActions } from './Dialog.tsx'
import { ErrorNote } from './ErrorNote.tsx'
import type { IconName } from './Icon.tsx'
import { toast } from './toast.ts'

type FormProps<T> = {
  /** The label of the submit button; without one the dialog can only be cancelled. */
  action: string | undefined
  act: () => Promise<T>
  /** The toast after success. */
  done?: string | ((result: T) => string)
  /** Runs after success, in place of closing. */
  onDone?: (result: T) => unknown
  onClose: () => void
  isFit?: boolean
  tone?: 'primary' | 'danger'
  icon?: IconName
  /** Cancel has the focus, so that Enter does nothing by accident. */
  isCautious?: boolean
  /** Stands left of the buttons. */
  aside?: ReactNode
  children: ReactNode
}

/** The form of a dialog: it stays open with the reason when its act fails. */
export function DialogForm<T>(props: FormProps<T>) {
  const { action, act, done, onClose, isFit = true, tone = 'primary', children } = props
  const { mutate, error, isPending } = useMutation({
    mutationFn: act,
    onSuccess: (result) => {
      if (done !== undefined) toast(typeof done === 'string' ? done : done(result))
      return props.onDone ? props.onDone(result) : onClose()
    },
  })
  return (
    <form
      className="grid gap-4 text-left text-text"
      onSubmit={(event) => {
        event.preventDefault()
        if (isFit) mutate()
      }}
    >
      {children}
      <ErrorNote error={error} />
      <DialogActions>
        {props.aside}
        <Button onClick={onClose} {...(props.isCautious && { 'data-autofocus': true })}>
          Cancel
        </Button>
        {action !== undefined && (
          <Button
            tone={tone}
            type="submit"
            disabled={isPending || !isFit}
            {...(props.icon && { icon: props.icon })}
          >
            {action}
          </Button>
        )}
      </DialogActions>
    </form>
  )
}

type DialogProps<T> = FormProps<T> & { title: string; wide?: boolean }

export const FormDialog = <T,>({ title, wide = false, ...form }: DialogProps<T>) => (
  <Dialog title={title} onClose={form.onClose} wide={wide}>
    <DialogForm {...form} />
  </Dialog>
)

/** Says what happens next, before it happens. */
export const Confirm = <T,>({ children, ...dialog }: DialogProps<T>) => (
  <FormDialog tone="danger" isCautious {...dialog}>
    <div className="text-soft">{children}</div>
  </FormDialog>
)
