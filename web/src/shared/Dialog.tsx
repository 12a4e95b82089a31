import { useEffect, useId, useRef } from 'react'
import type { ReactNode } from 'react'
import { useMutation } from '@tanstack/react-query'
import { IconButton, Button } from './Button.tsx'
import { ErrorNote } from './States.tsx'
import type { IconName } from './Icon.tsx'
import { toast } from './toast.ts'

type Props = {
  title: string
  onClose: () => void
  children: ReactNode
  wide?: boolean
  /** Uses the title as the accessible name only, without a heading. */
  bare?: boolean
}

/** A native dialog: it traps and restores the focus without the style elements that the CSP forbids. */
export function Dialog({ title, onClose, children, wide = false, bare = false }: Props) {
  const ref = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useEffect(() => {
    const dialog = ref.current
    const returnTarget = findReturnTarget()
    dialog?.showModal()
    // The browser would focus the close button.
    dialog?.querySelector<HTMLElement>('[data-autofocus]')?.focus()
    return () => {
      dialog?.close()
      if (returnTarget?.isConnected) returnTarget.focus()
    }
  }, [])
  const size = wide ? 'w-180' : 'w-110'
  return (
    <dialog
      ref={ref}
      aria-labelledby={bare ? undefined : heading}
      aria-label={bare ? title : undefined}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      // A click on the backdrop targets the dialog element itself.
      onPointerDown={(event) => event.target === event.currentTarget && onClose()}
      className={`settle max-h-[calc(100dvh-32px)] max-w-[calc(100vw-32px)] overflow-hidden rounded-lg border border-line bg-panel p-0 shadow-raised ${size} ${bare ? 'mt-[12vh]' : ''}`}
    >
      <div className="scroll-thin max-h-[calc(100dvh-34px)] overflow-y-auto">
        {!bare && (
          <header className="flex items-start gap-3 px-5 pt-4">
            <h2 id={heading} className="flex-1 text-md leading-8 font-semibold">
              {title}
            </h2>
            <IconButton icon="cross" label="Close" onClick={onClose} className="-mr-2" />
          </header>
        )}
        {bare ? children : <div className="grid gap-4 px-5 pt-1 pb-5">{children}</div>}
      </div>
    </dialog>
  )
}

/** Returns the element that gets the focus back. A menu item disappears with its menu, so its menu button is used. */
function findReturnTarget(): HTMLElement | undefined {
  const active = document.activeElement
  const button = active?.closest('[role=menu]')?.getAttribute('aria-labelledby')
  const target = button ? document.getElementById(button) : active
  return target instanceof HTMLElement ? target : undefined
}

export const DialogActions = ({ children }: { children: ReactNode }) => (
  <div className="flex flex-wrap justify-end gap-2 pt-1">{children}</div>
)

type FormProps<T> = {
  /** The label of the submit button; without it the dialog can only be canceled. */
  action: string | undefined
  act: () => Promise<T>
  /** The toast after success. */
  done?: string | ((result: T) => string)
  /** Runs after success instead of closing. */
  onDone?: (result: T) => unknown
  onClose: () => void
  isFit?: boolean
  tone?: 'primary' | 'danger'
  icon?: IconName
  /** Focuses Cancel, so that Enter confirms nothing by accident. */
  isCautious?: boolean
  /** Content to the left of the buttons. */
  aside?: ReactNode
  children: ReactNode
}

/** The form of a dialog; it stays open and shows the error when the action fails. */
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

/** Explains the consequences before a destructive action. */
export const ConfirmDialog = <T,>({ children, ...dialog }: DialogProps<T>) => (
  <FormDialog tone="danger" isCautious {...dialog}>
    <div className="text-soft">{children}</div>
  </FormDialog>
)
