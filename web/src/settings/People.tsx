import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ToolResults } from '#wire'
import { call } from '../api/client.ts'
import { Button, IconButton } from '../shared/Button.tsx'
import { Chip } from '../shared/Chips.tsx'
import { Icon } from '../shared/Icon.tsx'
import { Menu } from '../shared/Menu.tsx'
import { QueryContent } from '../shared/States.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { meQuery } from '../api/queries.ts'
import { peopleQuery, roleLabel, roles, useIsOwner } from './person.ts'
import type { Invitation, ListedPerson } from './person.ts'
import { formatAgo, formatTimeLeft, fullTime } from '../shared/time.ts'
import { useNow } from '../shared/use-now.ts'
import { toast, toastProblem } from '../shared/toast.ts'
import { ConfirmDialog, FormDialog } from '../shared/Dialog.tsx'
import { Item, List, SettingsSection } from './SettingsSection.tsx'
import { SelectField, TextField, useField } from '../shared/Field.tsx'
import { LinkDialog } from './LinkDialog.tsx'

export function People() {
  const people = useQuery(peopleQuery)
  const isOwner = useIsOwner()
  const [isInviting, setInviting] = useState(false)
  return (
    <SettingsSection
      title="People"
      lead="People who can sign in, and their roles. Owners can change them."
      action={
        isOwner && (
          <Button tone="primary" icon="plus" onClick={() => setInviting(true)}>
            Invite person
          </Button>
        )
      }
    >
      <QueryContent query={people} what="people" rows={3}>
        {({ people: all, invitations }) => (
          <List label="People">
            {all
              .filter(({ status }) => status === 'active')
              .map((person) => (
                <PersonItem key={person.id} person={person} canChange={isOwner} />
              ))}
            {invitations.map((invitation) => (
              <InvitationItem key={invitation.id} invitation={invitation} mayChange={isOwner} />
            ))}
          </List>
        )}
      </QueryContent>
      {isInviting && <InviteDialog onClose={() => setInviting(false)} />}
    </SettingsSection>
  )
}

function PersonItem({ person, canChange }: { person: ListedPerson; canChange: boolean }) {
  const now = useNow()
  const me = useQuery(meQuery).data?.person
  const [isRemoving, setRemoving] = useState(false)
  const setRole = useMutation({
    mutationFn: (role: string) => call('cowork_set_role', { person: person.id, role }),
    onSuccess: () => toast(`Changed the role of ${person.name}.`),
    onError: toastProblem,
  })
  const isMe = me?.id === person.id
  return (
    <Item
      icon={<Icon name="person" />}
      title={
        <>
          <SafeText text={person.name} />
          {isMe && <Chip tone="accent">You</Chip>}
        </>
      }
      detail={
        <>
          <SafeText text={person.id} />
          <span>{roles.find(({ value }) => value === person.role)?.may}</span>
          <span>
            {person.last_seen_at
              ? `active ${formatAgo(Date.parse(person.last_seen_at), now)}`
              : 'never active'}
          </span>
        </>
      }
    >
      {canChange && person.id !== 'owner' ? (
        <>
          <select
            aria-label={`Role of ${person.name}`}
            value={setRole.isPending ? setRole.variables : person.role}
            disabled={setRole.isPending}
            onChange={(event) => setRole.mutate(event.target.value)}
            className="h-8 rounded border border-edge bg-panel px-2 text-xs max-md:h-11"
          >
            {roles.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
          <IconButton
            icon="cross"
            label={`Remove ${person.name}`}
            onClick={() => setRemoving(true)}
          />
        </>
      ) : (
        <span className="text-xs text-soft">{roleLabel(person.role)}</span>
      )}
      {isRemoving && (
        <ConfirmDialog
          title={`Remove ${person.name}?`}
          action="Remove"
          act={() => call('cowork_remove_person', { person: person.id })}
          done={`Removed ${person.name}.`}
          onClose={() => setRemoving(false)}
        >
          <p>Sessions end immediately and passkeys are deleted. Ledger entries are kept.</p>
        </ConfirmDialog>
      )}
    </Item>
  )
}

function InvitationItem({ invitation, mayChange }: { invitation: Invitation; mayChange: boolean }) {
  const now = useNow()
  const withdraw = () =>
    void call('cowork_withdraw_invitation', { invitation: invitation.id }).then(
      () => toast(`Withdrew the invitation of ${invitation.name}.`),
      toastProblem,
    )
  return (
    <Item
      icon={<Icon name="link" />}
      title={
        <>
          <SafeText text={invitation.name} />
          <Chip tone="suggest" icon="info">
            Invited
          </Chip>
        </>
      }
      detail={
        <>
          <span>{roleLabel(invitation.role)}</span>
          <span>link expires in {formatTimeLeft(Date.parse(invitation.expires_at), now)}</span>
        </>
      }
    >
      {mayChange && (
        <Menu
          trigger={<IconButton icon="more" label={`Invitation of ${invitation.name}`} />}
          items={[{ label: 'Withdraw invitation', icon: 'cross', danger: true, act: withdraw }]}
        />
      )}
    </Item>
  )
}

function InviteDialog({ onClose }: { onClose: () => void }) {
  const field = useField()
  const role = useField('reviewer')
  const [invited, setInvited] = useState<ToolResults['cowork_invite_person']>()
  const name = field.value.trim()
  if (invited)
    return (
      <LinkDialog title={`Invitation for ${name}`} link={invited.link} onClose={onClose}>
        Shown only once. The first person to open the link joins, so send it only to {name}. Valid
        until {fullTime(Date.parse(invited.expires_at))}.
      </LinkDialog>
    )
  return (
    <FormDialog
      title="Invite person"
      action="Create link"
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
