import { Link } from '@tanstack/react-router'
import { queries } from '../api/queries.ts'
import { callFiles } from './call.ts'
import type { Grant } from './file.ts'
import { forWhom, isUnused, lastsText, meansText, originText, permissionName } from './grant.ts'
import { countText } from './byte-size.ts'
import { DialogButton } from '../shared/DialogButton.tsx'
import { Chip } from '../shared/Chips.tsx'
import { Plain } from '../shared/Plain.tsx'
import { plainString } from '../shared/plain.ts'
import { ago, fullTime } from '../shared/time.ts'
import { toast } from '../shared/toast.ts'
import { useNow } from '../shared/use-now.ts'
import { Confirm } from '../shared/FormDialog.tsx'
import { grantsQuery } from './file-queries.ts'

const tones = { read: 'act', 'read-write': 'suggest', write: 'suggest', deny: 'escalate' } as const
const icons = { read: 'eye', 'read-write': 'edit', write: 'plus', deny: 'stop' } as const

type Props = { grant: Grant; mayRevoke: boolean }
/** A message where it would come back by itself. */

export function GrantLine({ grant, mayRevoke }: Props) {
  const now = useNow()
  const { permission, path } = grant
  const isDenied = permission === 'deny'
  const means = meansText(grant.agent, permission)
  return (
    <li className="flex items-center gap-3 border-b border-line py-2.5">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
          {isDenied || permission === 'write' ? (
            <span className="py-0.5 break-all">
              <Plain text={path} />
            </span>
          ) : (
            <Link
              to="/files"
              search={grant.kind === 'file' ? { open: path } : { path }}
              className="py-0.5 break-all underline decoration-line underline-offset-3 hover:decoration-current"
            >
              <Plain text={path} />
            </Link>
          )}
          <span title={plainString(means)}>
            <Chip tone={tones[permission]} icon={icons[permission]}>
              {permissionName(permission)}
            </Chip>
          </span>
          {grant.replaced && (
            <span title="What was granted is not at this path any more. What may be there now is opened by a new grant.">
              <Chip tone="escalate" icon="warn">
                gone or replaced: not open
              </Chip>
            </span>
          )}
          {isUnused(grant, now) && (
            <Chip tone="plain" icon="clock">
              not used for long
            </Chip>
          )}
        </p>
        <p className="flex flex-wrap gap-x-3 text-xs text-soft">
          <span>
            <Plain text={forWhom(grant)} />
          </span>
          <span>{lastsText(grant, now)}</span>
          <span title={fullTime(Date.parse(grant.granted_at))}>
            {isDenied ? 'denied' : originText(grant)} {ago(Date.parse(grant.granted_at), now)}
          </span>
          {!isDenied && <LastUse grant={grant} now={now} />}
        </p>
      </div>
      {mayRevoke && (
        <DialogButton
          size="sm"
          aria-label={`Revoke ${plainString(path)}`}
          dialog={(close) => (
            <Confirm
              title={isDenied ? 'Let it ask again?' : 'Revoke this grant?'}
              action={isDenied ? 'Let it ask' : 'Revoke'}
              act={async () => {
                const { message } = await callFiles('revoke_grant', { grant_id: grant.id })
                if (message !== undefined) toast(message, true)
                await queries.invalidateQueries(grantsQuery)
              }}
              done={isDenied ? 'It may ask again.' : 'The grant is revoked.'}
              onClose={close}
            >
              <p className="break-all text-text">
                <Plain text={path} />
              </p>
              <p>
                <Plain text={means} />
              </p>
              <p>
                {isDenied
                  ? 'The next request for it waits in the Inbox.'
                  : 'Reads and writes under way end within a second. What it did stays in the ledger.'}
              </p>
            </Confirm>
          )}
        >
          Revoke
        </DialogButton>
      )}
    </li>
  )
}

const LastUse = ({
  grant: { last_accessed: at, access_count: count },
  now,
}: {
  grant: Grant
  now: number
}) =>
  at === null ? (
    <span>never used</span>
  ) : (
    <span title={fullTime(Date.parse(at))}>
      used {ago(Date.parse(at), now)}, {countText(count, 'time', 'times')}
    </span>
  )
