import { useEffect, useId, useRef } from 'react'
import type { ReactNode } from 'react'
import { IconButton } from './Button.tsx'

type Props = {
  title: string
  onClose: () => void
  children: ReactNode
  wide?: boolean
  /** No heading is drawn; the title is still its name. */
  bare?: boolean
}

/**
 * The browser's own dialog: it traps focus, closes by Escape, hides the rest from readers and gives the
 * focus back, all without the style elements that our CSP forbids.
 */
export function Dialog({ title, onClose, children, wide = false, bare = false }: Props) {
  const ref = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useEffect(() => {
    const dialog = ref.current
    const before = opener()
    dialog?.showModal()
    // The browser would choose the cross; what the dialog is about comes first.
    dialog?.querySelector<HTMLElement>('[data-autofocus]')?.focus()
    return () => {
      dialog?.close()
      if (before?.isConnected) before.focus()
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
      // A press on the ground around it, which is the dialog element itself.
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

/** What has the focus when the dialog is asked for. The item of a menu goes with its menu; the menu's button stays. */
function opener(): HTMLElement | undefined {
  const active = document.activeElement
  const button = active?.closest('[role=menu]')?.getAttribute('aria-labelledby')
  const found = button ? document.getElementById(button) : active
  return found instanceof HTMLElement ? found : undefined
}

export const DialogActions = ({ children }: { children: ReactNode }) => (
  <div className="flex flex-wrap justify-end gap-2 pt-1">{children}</div>
)
