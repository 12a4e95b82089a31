import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { ToolResults } from '#wire'
import { call } from '../api/client.ts'
import { Button } from '../shared/Button.tsx'
import { CopyBox } from '../shared/Copy.tsx'
import { Dialog, DialogActions } from '../shared/Dialog.tsx'
import { ErrorNote } from '../shared/ErrorNote.tsx'
import { SelectField, TextField } from '../shared/Field.tsx'
import { fullTime } from '../shared/time.ts'
import { roles } from './roles.ts'

type Invited = ToolResults['cowork_invite_person']

export function InviteDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const [role, setRole] = useState('reviewer')
  const invite = useMutation({
    mutationFn: () => call('cowork_invite_person', { name: name.trim(), role }),
  })
  if (invite.data) return <Link name={name.trim()} invited={invite.data} onClose={onClose} />
  return (
    <Dialog title="Invite a person" onClose={onClose}>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          invite.mutate()
        }}
      >
        <TextField
          label="Name"
          required
          maxLength={100}
          data-autofocus
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <SelectField
          label="Role"
          value={role}
          onChange={(event) => setRole(event.target.value)}
          choices={roles.map(({ value, label, may }) => ({ value, label: `${label}: ${may}` }))}
        />
        <ErrorNote error={invite.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" disabled={invite.isPending}>
            Make the link
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

const Link = ({
  name,
  invited,
  onClose,
}: {
  name: string
  invited: Invited
  onClose: () => void
}) => (
  <Dialog title={`A link for ${name}`} onClose={onClose}>
    <p className="text-soft">
      It is shown once, here. Whoever opens it first joins, so send it to {name} alone. It works
      until {fullTime(Date.parse(invited.expires_at))}.
    </p>
    <CopyBox text={invited.link} what="link" />
    <DialogActions>
      <Button tone="primary" onClick={onClose}>
        Done
      </Button>
    </DialogActions>
  </Dialog>
)
