import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/client.ts'
import { Button } from '../shared/Button.tsx'
import { Dialog, DialogActions } from '../shared/Dialog.tsx'
import { ErrorNote } from '../shared/ErrorNote.tsx'
import { TextField } from '../shared/Field.tsx'
import { TokenOnce } from './TokenOnce.tsx'

export function AddAgent({ onClose }: { onClose: () => void }) {
  const [id, setId] = useState('')
  const [scopes, setScopes] = useState('')
  const add = useMutation({
    mutationFn: () => {
      const given = scopes.split(/[\s,]+/).filter(Boolean)
      return call('cowork_add_agent', {
        id: id.trim(),
        ...(given.length > 0 && { scopes: given }),
      })
    },
  })
  if (add.data)
    return (
      <TokenOnce title={`${add.data.id} is added`} token={add.data.token} onClose={onClose}>
        {add.data.closed_the_door &&
          'It is the first agent and closes the door: from now on every agent needs a token.'}
      </TokenOnce>
    )
  return (
    <Dialog title="Add an agent" onClose={onClose}>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          add.mutate()
        }}
      >
        <TextField
          label="Id"
          hint="How the ledger will call it, such as claude-code or sales-agent."
          required
          maxLength={128}
          data-autofocus
          autoCapitalize="off"
          spellCheck={false}
          value={id}
          onChange={(event) => setId(event.target.value)}
        />
        <TextField
          label="Scopes"
          hint="Empty means everything. read:* means reading only; write:files names one toolset."
          placeholder="read:*"
          autoCapitalize="off"
          spellCheck={false}
          value={scopes}
          onChange={(event) => setScopes(event.target.value)}
        />
        <ErrorNote error={add.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" disabled={add.isPending}>
            Add
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
