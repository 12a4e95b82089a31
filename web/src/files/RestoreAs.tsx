import { callFiles } from './call.ts'
import { freeName, joined, nameOf, parentOf } from './path.ts'
import { TextField, useField } from '../shared/Field.tsx'
import { FormDialog } from '../shared/FormDialog.tsx'
import { hiddenNote, plainString } from '../shared/plain.ts'

type Props = {
  id: string
  /** Where it lay. */
  path: string
  onDone: () => Promise<void>
  onClose: () => void
}

/** Back under another name, or to another place: nothing that is there is written over (TR1). */
export function RestoreAs({ id, path, onDone, onClose }: Props) {
  const field = useField(joined(parentOf(path), freeName(nameOf(path), 2)))
  const destination = field.value
  return (
    <FormDialog
      title={`Restore ${plainString(nameOf(path))} as`}
      action="Restore"
      act={() => callFiles('trash_restore', { trash_id: id, destination })}
      done={`${plainString(nameOf(destination))} is back.`}
      onDone={async () => {
        onClose()
        await onDone()
      }}
      onClose={onClose}
    >
      <TextField
        label="Path"
        data-autofocus
        required
        hint={hiddenNote(destination) ?? 'From the top of the workspace.'}
        {...field}
      />
    </FormDialog>
  )
}
