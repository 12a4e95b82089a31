import type { Item } from '../approval.ts'
import { Button } from '../../shared/Button.tsx'
import { Dialog, DialogActions } from '../../shared/Dialog.tsx'
import { ErrorNote } from '../../shared/ErrorNote.tsx'
import { Plain } from '../../shared/Plain.tsx'
import { ConflictText } from '../item/ConflictNote.tsx'
import { useDecision } from './use-decision.ts'
import type { Sending } from './use-decision.ts'

/** The second confirmation for a request that the active policy blocks. */
export function ConflictDialog({ item, ...sending }: Sending & { item: Item }) {
  const { submit, error, isPending } = useDecision(sending, [item])
  const { policy_conflict: conflict } = item
  if (!conflict) return null
  return (
    <Dialog title="Approve against the active policy?" onClose={sending.onClose}>
      <p className="text-soft">
        <Plain text={item.summary} />
      </p>
      <ConflictText conflict={conflict} />
      <p className="text-soft">The ledger records that you approved it anyway.</p>
      <ErrorNote error={error} />
      <DialogActions>
        <Button onClick={sending.onClose} data-autofocus>
          Cancel
        </Button>
        <Button
          tone="danger"
          disabled={isPending}
          onClick={() => submit({ decision: 'approve', acknowledge_policy: conflict.version })}
        >
          Approve anyway
        </Button>
      </DialogActions>
    </Dialog>
  )
}
