import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/client.ts'
import { browserName } from '../shared/client-name.ts'
import { hasPasskeys, registerPasskey } from '../api/passkey.ts'
import { Button } from '../shared/Button.tsx'
import { DialogButton } from '../shared/DialogButton.tsx'
import { TextField, useField } from '../shared/Field.tsx'
import { Icon } from '../shared/Icon.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { EmptyState, QueryContent, Note } from '../shared/States.tsx'
import { meQuery, queryClient } from '../api/queries.ts'
import { passkeysQuery } from './person.ts'
import type { Passkey } from './person.ts'
import { formatAgo } from '../shared/time.ts'
import { useNow } from '../shared/use-now.ts'
import { ConfirmDialog, FormDialog } from '../shared/Dialog.tsx'
import { Item, List, SettingsSection } from './SettingsSection.tsx'

export function Passkeys() {
  const passkeys = useQuery(passkeysQuery)
  const [isAdding, setAdding] = useState(false)
  const add = (
    <Button tone="primary" icon="plus" disabled={!hasPasskeys} onClick={() => setAdding(true)}>
      Add passkey
    </Button>
  )
  return (
    <SettingsSection
      title="Passkeys"
      lead="Changes to people and agents require your passkey. Local programs can read files but cannot use your passkey."
      action={(passkeys.data?.length ?? 0) > 0 && add}
    >
      <QueryContent query={passkeys} what="passkeys" rows={3}>
        {(all) =>
          all.length > 0 ? (
            <List label="Passkeys">
              {all.map((passkey) => (
                <PasskeyItem key={passkey.id} passkey={passkey} />
              ))}
            </List>
          ) : (
            <EmptyState icon="key" title="No passkeys">
              <p>Without a passkey, anyone with your session can change people and agents.</p>
              {add}
            </EmptyState>
          )
        }
      </QueryContent>
      {!hasPasskeys && (
        <Note tone="suggest" icon="info">
          This browser does not support passkeys.
        </Note>
      )}
      {isAdding && <AddPasskey onClose={() => setAdding(false)} />}
    </SettingsSection>
  )
}

function AddPasskey({ onClose }: { onClose: () => void }) {
  const name = useField(browserName(navigator.userAgent) ?? 'This device')
  return (
    <FormDialog
      title="Add passkey"
      action="Continue"
      icon="key"
      act={() => registerPasskey(name.value.trim())}
      done="Added the passkey."
      onDone={async () => {
        onClose()
        await queryClient.invalidateQueries(passkeysQuery)
        await queryClient.invalidateQueries(meQuery)
      }}
      onClose={onClose}
    >
      <p className="text-soft">The browser asks for a fingerprint, face, PIN or security key.</p>
      <TextField
        label="Name"
        hint="Shown in the list of passkeys."
        required
        maxLength={100}
        data-autofocus
        {...name}
      />
    </FormDialog>
  )
}

function PasskeyItem({ passkey }: { passkey: Passkey }) {
  const now = useNow()
  const me = useQuery(meQuery).data?.person.id
  const used = passkey.last_used_at
  return (
    <Item
      icon={<Icon name="key" />}
      title={<SafeText text={passkey.name} />}
      detail={
        <>
          {passkey.person !== me && <SafeText text={passkey.person} />}
          <span>added {formatAgo(Date.parse(passkey.created_at), now)}</span>
          <span>{used ? `used ${formatAgo(Date.parse(used), now)}` : 'unused'}</span>
        </>
      }
    >
      <DialogButton
        size="sm"
        aria-label={`Remove ${passkey.name}`}
        dialog={(close) => (
          <ConfirmDialog
            title={`Remove passkey ${passkey.name}?`}
            action="Remove"
            act={() => call('cowork_remove_passkey', { id: passkey.id })}
            done="Removed the passkey."
            onClose={close}
          >
            <p>Without a passkey, changes to people and agents need no confirmation.</p>
          </ConfirmDialog>
        )}
      >
        Remove
      </DialogButton>
    </Item>
  )
}
