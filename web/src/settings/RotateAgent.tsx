import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/client.ts'
import { Button } from '../shared/Button.tsx'
import { Dialog, DialogActions } from '../shared/Dialog.tsx'
import { ErrorNote } from '../shared/ErrorNote.tsx'
import { SelectField } from '../shared/Field.tsx'
import { shortTime } from '../shared/time.ts'
import { TokenOnce } from './TokenOnce.tsx'

const overlaps = [
  { value: '10', label: '10 minutes: time to put the new one in place' },
  { value: '60', label: 'One hour' },
  { value: '1440', label: 'One day' },
  { value: '0', label: 'Not at all: the old one ends now' },
]

export function RotateAgent({ id, onClose }: { id: string; onClose: () => void }) {
  const [overlap, setOverlap] = useState('10')
  const rotate = useMutation({
    mutationFn: () => call('cowork_rotate_agent', { id, overlap_minutes: Number(overlap) }),
  })
  if (rotate.data)
    return (
      <TokenOnce title={`A new token for ${id}`} token={rotate.data.token} onClose={onClose}>
        {overlap === '0'
          ? 'The old one has ended.'
          : `The old one works until ${shortTime(Date.parse(rotate.data.old_token_ends_at))}.`}
      </TokenOnce>
    )
  return (
    <Dialog title={`Give ${id} a new token?`} onClose={onClose}>
      <SelectField
        label="The old token works on for"
        choices={overlaps}
        value={overlap}
        onChange={(event) => setOverlap(event.target.value)}
      />
      <ErrorNote error={rotate.error} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          tone="primary"
          icon="key"
          disabled={rotate.isPending}
          onClick={() => rotate.mutate()}
        >
          Give a new token
        </Button>
      </DialogActions>
    </Dialog>
  )
}
