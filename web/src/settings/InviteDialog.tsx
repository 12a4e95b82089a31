import { useState } from 'react'
import type { ToolResults } from '#wire'
import { call } from '../api/client.ts'
import { SelectField, TextField, useField } from '../shared/Field.tsx'
import { FormDialog } from '../shared/FormDialog.tsx'
import { fullTime } from '../shared/time.ts'
import { LinkDialog } from './LinkDialog.tsx'
import { roles } from './roles.ts'

export function InviteDialog({ onClose }: { onClose: () => void }) {
  const field = useField()
  const role = useField('reviewer')
  const [invited, setInvited] = useState<ToolResults['cowork_invite_person']>()
  const name = field.value.trim()
  if (invited)
    return (
      <LinkDialog title={`A link for ${name}`} link={invited.link} onClose={onClose}>
        It is shown once, here. Whoever opens it first joins, so send it to {name} alone. It works
        until {fullTime(Date.parse(invited.expires_at))}.
      </LinkDialog>
    )
  return (
    <FormDialog
      title="Invite a person"
      action="Make the link"
      act={() => call('cowork_invite_person', { name, role: role.value })}
      onDone={setInvited}
      onClose={onClose}
    >
      <TextField label="Name" required maxLength={100} data-autofocus {...field} />
      <SelectField
        label="Role"
        choices={roles.map(({ value, label, may }) => ({ value, label: `${label}: ${may}` }))}
        {...role}
      />
    </FormDialog>
  )
}
