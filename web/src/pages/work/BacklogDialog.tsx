import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api.ts'
import { Button } from '../../parts/Button.tsx'
import { Dialog, DialogActions } from '../../parts/Dialog.tsx'
import { ErrorNote } from '../../parts/ErrorNote.tsx'
import { SelectField, TextField } from '../../parts/Field.tsx'
import { plainString } from '../../plain.ts'
import { toast } from '../../toasts.ts'
import { backlogNames, priorityNames } from '../../work/words.ts'
import { backlogStatuses, priorities } from '../../work/work.ts'
import type { BacklogItem } from '../../work/work.ts'
import { useWork } from './work-context.ts'

type Props = { item?: BacklogItem; onClose: () => void }

/** Something new for the backlog, or other words for what is there. */
export function BacklogDialog({ item, onClose }: Props) {
  const { project } = useWork()
  // As it was when the form was opened (W22).
  const [before] = useState(item)
  const [summary, setSummary] = useState(item?.summary ?? '')
  const [theme, setTheme] = useState(item?.theme ?? '')
  const [priority, setPriority] = useState<string>(item?.priority ?? '')
  const [status, setStatus] = useState<string>(item?.status ?? 'todo')
  const changed = {
    ...(summary.trim() !== before?.summary && { summary: summary.trim() }),
    ...(theme.trim() !== '' && theme.trim() !== before?.theme && { theme: theme.trim() }),
    ...(priority !== '' && priority !== before?.priority && { priority }),
    ...(status !== (before?.status ?? 'todo') && { status }),
  }
  const save = useMutation({
    mutationFn: () =>
      before
        ? call('worksync_update_backlog', {
            project,
            item_id: before.id,
            expect_rev: before.rev,
            ...changed,
          })
        : call('worksync_add_backlog', { project, ...changed }),
    onSuccess: () => {
      toast(before ? `${plainString(before.id)} is changed.` : 'It is on the backlog.')
      onClose()
    },
  })
  return (
    <Dialog
      title={before ? `Edit ${plainString(before.id)}` : 'Add to the backlog'}
      onClose={onClose}
    >
      <form
        className="grid gap-4 text-left text-text"
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate()
        }}
      >
        <TextField
          label="What is to be done"
          required
          maxLength={500}
          data-autofocus
          value={summary}
          onChange={(event) => setSummary(event.target.value)}
        />
        <TextField
          label="Theme"
          maxLength={100}
          value={theme}
          onChange={(event) => setTheme(event.target.value)}
        />
        <div className="grid grid-cols-2 gap-4">
          <SelectField
            label="Priority"
            choices={[
              ...(before?.priority ? [] : [{ value: '', label: 'None' }]),
              ...priorities.map((value) => ({ value, label: priorityNames[value] })),
            ]}
            value={priority}
            onChange={(event) => setPriority(event.target.value)}
          />
          <SelectField
            label="Status"
            choices={backlogStatuses.map((value) => ({ value, label: backlogNames[value] }))}
            value={status}
            onChange={(event) => setStatus(event.target.value)}
          />
        </div>
        <ErrorNote error={save.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            tone="primary"
            type="submit"
            disabled={save.isPending || Object.keys(changed).length === 0}
          >
            {before ? 'Save' : 'Add'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
