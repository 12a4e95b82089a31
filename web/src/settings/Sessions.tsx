import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ToolResults } from '#wire'
import { call } from '../api/client.ts'
import { browserName } from '../shared/client-name.ts'
import { Button } from '../shared/Button.tsx'
import { DialogButton } from '../shared/DialogButton.tsx'
import { Chip } from '../shared/Chips.tsx'
import { Icon } from '../shared/Icon.tsx'
import { QueryContent } from '../shared/States.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { sessionsQuery, useIsOwner } from './person.ts'
import type { ListedSession } from './person.ts'
import { session as thisSession } from '../api/session.ts'
import { formatAgo, fullTime, shortTime } from '../shared/time.ts'
import { useNow } from '../shared/use-now.ts'
import { toastProblem } from '../shared/toast.ts'
import { ConfirmDialog } from '../shared/Dialog.tsx'
import { LinkDialog } from './LinkDialog.tsx'
import { Item, List, SettingsSection } from './SettingsSection.tsx'

export function Sessions() {
  const sessions = useQuery(sessionsQuery)
  const isOwner = useIsOwner()
  const [link, setLink] = useState<ToolResults['cowork_open_link']>()
  const open = useMutation({
    mutationFn: () => call('cowork_open_link'),
    onSuccess: setLink,
    onError: toastProblem,
  })
  return (
    <SettingsSection
      title="Sessions"
      lead={`Browsers in which ${isOwner ? 'people are' : 'you are'} signed in. A session ends after 30 days without use.`}
      action={
        <Button icon="link" disabled={open.isPending} onClick={() => open.mutate()}>
          Open in another browser
        </Button>
      }
    >
      <QueryContent query={sessions} what="sessions" rows={3}>
        {(all) => (
          <List label="Sessions">
            {all
              .toSorted((a, b) => Number(b.current) - Number(a.current))
              .map((session) => (
                <SessionItem key={session.id} session={session} />
              ))}
          </List>
        )}
      </QueryContent>
      {link && (
        <LinkDialog title="Sign-in link" link={link.link} onClose={() => setLink(undefined)}>
          Signs you in once, until {shortTime(Date.parse(link.expires_at))}, in any browser on this
          computer. Do not share it.
        </LinkDialog>
      )}
    </SettingsSection>
  )
}

function SessionItem({ session }: { session: ListedSession }) {
  const now = useNow()
  const device = browserName(session.user_agent) ?? session.user_agent
  return (
    <Item
      icon={<Icon name="device" />}
      title={
        <>
          <SafeText text={device} />
          {session.current && <Chip tone="accent">This device</Chip>}
        </>
      }
      detail={
        <>
          <SafeText text={session.name} />
          <span title={fullTime(Date.parse(session.last_seen_at))}>
            used {formatAgo(Date.parse(session.last_seen_at), now)}
          </span>
          <span title={fullTime(Date.parse(session.created_at))}>
            opened {formatAgo(Date.parse(session.created_at), now)}
          </span>
        </>
      }
    >
      {session.current ? (
        <Button size="sm" onClick={() => void thisSession.signOut()}>
          Sign out
        </Button>
      ) : (
        <DialogButton
          size="sm"
          aria-label={`Revoke ${device} of ${session.name}`}
          dialog={(close) => (
            <ConfirmDialog
              title="Revoke this session?"
              action="Revoke"
              act={() => call('cowork_revoke_session', { session: session.id })}
              done="Revoked the session."
              onClose={close}
            >
              <p>
                {device} of {session.name} is signed out immediately. Use a new sign-in link to sign
                in again.
              </p>
            </ConfirmDialog>
          )}
        >
          Revoke
        </DialogButton>
      )}
    </Item>
  )
}
