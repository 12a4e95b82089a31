import { useQuery } from '@tanstack/react-query'
import { Tabs } from 'radix-ui'
import { useState } from 'react'
import type { ReactNode } from 'react'
import type { ToolResults } from '#wire'
import { call } from '../api/client.ts'
import { meQuery } from '../api/queries.ts'
import { Button } from '../shared/Button.tsx'
import { CopyBox } from '../shared/Copy.tsx'
import { Dialog, DialogActions, FormDialog } from '../shared/Dialog.tsx'
import { SelectField, TextField, useField } from '../shared/Field.tsx'
import { Hint, Note } from '../shared/States.tsx'
import { clients, buildSnippets } from '../shared/snippet.ts'
import { shortTime } from '../shared/time.ts'

export function AddAgent({ onClose }: { onClose: () => void }) {
  const id = useField()
  const scopes = useField()
  const [added, setAdded] = useState<ToolResults['cowork_add_agent']>()
  const add = () => {
    const scopeList = scopes.value.split(/[\s,]+/).filter(Boolean)
    return call('cowork_add_agent', {
      id: id.value.trim(),
      ...(scopeList.length > 0 && { scopes: scopeList }),
    })
  }
  if (added)
    return (
      <NewTokenDialog title={`Added ${added.id}`} token={added.token} onClose={onClose}>
        {added.auth_enabled && 'Authentication is now on: every agent needs a token.'}
      </NewTokenDialog>
    )
  return (
    <FormDialog title="Add agent" action="Add" act={add} onDone={setAdded} onClose={onClose}>
      <TextField
        label="Id"
        hint="Shown in the audit log, for example claude-code."
        required
        maxLength={128}
        data-autofocus
        autoCapitalize="off"
        spellCheck={false}
        {...id}
      />
      <TextField
        label="Scopes"
        hint="Empty: all tools. read:*: read only. write:files: write to one toolset."
        placeholder="read:*"
        autoCapitalize="off"
        spellCheck={false}
        {...scopes}
      />
    </FormDialog>
  )
}

const overlapChoices = [
  { value: '10', label: '10 min' },
  { value: '60', label: '1 h' },
  { value: '1440', label: '1 day' },
  { value: '0', label: 'Revoke the old token now' },
]

export function RotateAgent({ id, onClose }: { id: string; onClose: () => void }) {
  const overlap = useField('10')
  const [rotated, setRotated] = useState<ToolResults['cowork_rotate_agent']>()
  if (rotated)
    return (
      <NewTokenDialog title={`New token for ${id}`} token={rotated.token} onClose={onClose}>
        {overlap.value === '0'
          ? 'The old token is revoked.'
          : `The old token is valid until ${shortTime(Date.parse(rotated.old_token_ends_at))}.`}
      </NewTokenDialog>
    )
  return (
    <FormDialog
      title={`Rotate token of ${id}?`}
      action="Rotate token"
      icon="key"
      act={() => call('cowork_rotate_agent', { id, overlap_minutes: Number(overlap.value) })}
      onDone={setRotated}
      onClose={onClose}
    >
      <SelectField label="Keep the old token valid for" choices={overlapChoices} {...overlap} />
    </FormDialog>
  )
}

type Props = { title: string; token: string; onClose: () => void; children?: ReactNode }

/** Shows a new token once, with the configuration of each client. */
const NewTokenDialog = ({ title, token, onClose, children }: Props) => (
  <Dialog title={title} onClose={onClose} wide>
    <Note tone="suggest" icon="key">
      Copy the token now. It is stored as a hash and not shown again. {children}
    </Note>
    <CopyBox text={token} what="token" />
    <section className="grid gap-2">
      <h3 className="text-xs font-semibold text-faint">Connect a client</h3>
      <Snippets token={token} />
    </section>
    <DialogActions>
      <Button tone="primary" onClick={onClose}>
        I saved the token
      </Button>
    </DialogActions>
  </Dialog>
)

function Snippets({ token }: { token: string }) {
  const command = useQuery(meQuery).data?.command
  const connection = { url: `${location.origin}/mcp`, token, command }
  return (
    <Tabs.Root defaultValue={clients[0]?.id}>
      <Tabs.List
        aria-label="Client"
        className="scroll-thin flex gap-4 overflow-x-auto border-b border-line"
      >
        {clients.map(({ id, name }) => (
          <Tabs.Trigger
            key={id}
            value={id}
            className="h-8 shrink-0 border-b-2 border-transparent text-soft -outline-offset-2 data-[state=active]:border-accent data-[state=active]:font-[550] data-[state=active]:text-text max-md:h-11"
          >
            {name}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {clients.map(({ id }) => (
        <Tabs.Content key={id} value={id} className="grid gap-3 pt-3">
          {buildSnippets(id, connection).map(({ lead, text }) => (
            <div key={lead} className="grid gap-1.5">
              <Hint as="p" className="text-soft" text={lead} />
              <CopyBox text={text} what="snippet" />
            </div>
          ))}
        </Tabs.Content>
      ))}
    </Tabs.Root>
  )
}
