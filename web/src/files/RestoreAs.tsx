import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { callFiles } from './call.ts'
import { freeName, joined, nameOf, parentOf } from './path.ts'
import { Button } from '../shared/Button.tsx'
import { Dialog, DialogActions } from '../shared/Dialog.tsx'
import { ErrorNote } from '../shared/ErrorNote.tsx'
import { TextField } from '../shared/Field.tsx'
import { hiddenNote, plainString } from '../shared/plain.ts'
import { toast } from '../shared/toast.ts'

type Props = {
  id: string
  /** Where it lay. */
  path: string
  onDone: () => Promise<void>
  onClose: () => void
}

/** Back under another name, or to another place: nothing that is there is written over (TR1). */
export function RestoreAs({ id, path, onDone, onClose }: Props) {
  const [destination, setDestination] = useState(joined(parentOf(path), freeName(nameOf(path), 2)))
  const restore = useMutation({
    mutationFn: () => callFiles('trash_restore', { trash_id: id, destination }),
    onSuccess: async () => {
      toast(`${plainString(nameOf(destination))} is back.`)
      onClose()
      await onDone()
    },
  })
  return (
    <Dialog title={`Restore ${plainString(nameOf(path))} as`} onClose={onClose}>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          restore.mutate()
        }}
      >
        <TextField
          label="Path"
          data-autofocus
          required
          value={destination}
          hint={hiddenNote(destination) ?? 'From the top of the workspace.'}
          onChange={(event) => setDestination(event.target.value)}
        />
        <ErrorNote error={restore.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" disabled={restore.isPending}>
            Restore
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
