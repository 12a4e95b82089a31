import type { ReactNode } from 'react'
import { Button } from '../shared/Button.tsx'
import { CopyBox } from '../shared/Copy.tsx'
import { Dialog, DialogActions } from '../shared/Dialog.tsx'

type Props = { title: string; link: string; onClose: () => void; children: ReactNode }

export const LinkDialog = ({ title, link, onClose, children }: Props) => (
  <Dialog title={title} onClose={onClose}>
    <p className="text-soft">{children}</p>
    <CopyBox text={link} what="link" />
    <DialogActions>
      <Button tone="primary" onClick={onClose}>
        Done
      </Button>
    </DialogActions>
  </Dialog>
)
