import { useState } from 'react'
import type { Item } from '../approval.ts'
import { inDays, untilOf } from '../grant.ts'
import { Button } from '../../shared/Button.tsx'
import { Dialog, DialogActions } from '../../shared/Dialog.tsx'
import { ErrorNote } from '../../shared/ErrorNote.tsx'
import { TextField } from '../../shared/Field.tsx'
import { Plain } from '../../shared/Plain.tsx'
import { useNow } from '../../shared/use-now.ts'
import { useDecision } from './use-decision.ts'
import type { Sending } from './use-decision.ts'

/** Access that ends by itself (GR3). */
export function UntilDialog({ item, ...sending }: Sending & { item: Item }) {
  const now = useNow()
  const [text, setText] = useState(() => inDays(1, now))
  const { submit, error, isPending } = useDecision(sending, [item])
  const asked = untilOf(text, now)
  return (
    <Dialog title="Allow until…" onClose={sending.onClose}>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if ('until' in asked)
            submit({ decision: 'approve', grant: { choice: 'until', until: asked.until } })
        }}
      >
        <p className="break-all text-soft">
          <Plain text={item.target} />
        </p>
        <TextField
          label="Until"
          type="datetime-local"
          data-autofocus
          value={text}
          onChange={(event) => setText(event.target.value)}
          hint={'lacks' in asked ? asked.lacks : 'Then it ends by itself.'}
        />
        <ErrorNote error={error} />
        <DialogActions>
          <Button onClick={sending.onClose}>Cancel</Button>
          <Button tone="primary" type="submit" disabled={isPending || 'lacks' in asked}>
            Allow
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
