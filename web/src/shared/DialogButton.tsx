import { useState } from 'react'
import type { ComponentProps, ReactNode } from 'react'
import { Button } from './Button.tsx'

type Props = Omit<ComponentProps<typeof Button>, 'onClick'> & {
  dialog: (close: () => void) => ReactNode
}

export function DialogButton({ dialog, ...button }: Props) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button {...button} onClick={() => setOpen(true)} />
      {isOpen && dialog(() => setOpen(false))}
    </>
  )
}
