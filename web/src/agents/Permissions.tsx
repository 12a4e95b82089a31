import { useQuery } from '@tanstack/react-query'
import { call } from '../api/client.ts'
import { DialogButton } from '../shared/DialogButton.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { Section } from '../shared/Section.tsx'
import { QueryContent } from '../shared/States.tsx'
import { sanitizeText } from '../shared/sanitize.ts'
import { queryClient } from '../api/queries.ts'
import { useCanAct } from '../settings/person.ts'
import { formatAgo, formatTimeLeft } from '../shared/time.ts'
import { useNow } from '../shared/use-now.ts'
import { ConfirmDialog } from '../shared/Dialog.tsx'
import { permissionsQuery } from './agent-queries.ts'
import type { Permission } from './agent-queries.ts'

/** The standing permissions of an agent, which can be revoked (Y8). */
export function Permissions({ agent }: { agent: string }) {
  const query = useQuery(permissionsQuery)
  const canRevoke = useCanAct()
  return (
    <Section title="Standing permissions" says="all domains">
      <QueryContent query={query} what="permissions" rows={2}>
        {(all) => {
          const mine = all.filter(({ agent_id: id }) => id === agent)
          return mine.length > 0 ? (
            <ul aria-label="Standing permissions" className="border-t border-line">
              {mine.map((it) => (
                <Line key={it.id} permission={it} mayRevoke={canRevoke} />
              ))}
            </ul>
          ) : (
            <p className="text-soft">No standing permissions</p>
          )
        }}
      </QueryContent>
    </Section>
  )
}

function Line({ permission: it, mayRevoke }: { permission: Permission; mayRevoke: boolean }) {
  const now = useNow()
  return (
    <li className="flex items-center gap-3 border-b border-line py-2">
      <div className="min-w-0 flex-1">
        <p className="break-words">
          <SafeText as="code" className="font-mono text-code" text={it.tool} />{' '}
          <span className="text-soft">{formatDuration(it, now)}</span>
        </p>
        <p className="flex flex-wrap gap-x-3 text-xs text-soft">
          {it.arguments ? (
            <>
              {Object.entries(it.arguments).map(([name, pattern]) => (
                <span key={name} className="break-all">
                  <SafeText text={name} />: <SafeText text={pattern} />
                </span>
              ))}
              <span className="break-all">{formatRest(it)}</span>
            </>
          ) : (
            <span>exactly as approved</span>
          )}
          <span>
            by <SafeText text={it.granted_by} />, {formatAgo(Date.parse(it.granted_at), now)}
          </span>
          <span>
            {it.last_used_at ? `used ${formatAgo(Date.parse(it.last_used_at), now)}` : 'unused'}
          </span>
        </p>
      </div>
      {mayRevoke && (
        <DialogButton
          size="sm"
          aria-label={`Revoke ${sanitizeText(it.tool)}`}
          dialog={(close) => (
            <ConfirmDialog
              title={`Revoke ${sanitizeText(it.tool)}?`}
              action="Revoke"
              act={async () => {
                await call('cowork_revoke_permission', { id: it.id })
                await queryClient.invalidateQueries(permissionsQuery)
              }}
              done="Revoked the permission."
              onClose={close}
            >
              <p>The next matching call needs approval again.</p>
            </ConfirmDialog>
          )}
        >
          Revoke
        </DialogButton>
      )}
    </li>
  )
}

/** Describes the arguments without a pattern. */
const formatRest = ({ arguments: patterns, exact }: Permission): string =>
  exact.length > 0
    ? `${exact.map(sanitizeText).join(', ')} as approved`
    : Object.keys(patterns ?? {}).length > 0
      ? ''
      : 'any arguments'

function formatDuration(
  { for: how, uses_left: uses, expires_at: ends }: Permission,
  now: number,
): string {
  if (how === 'uses') return uses === 1 ? '1 use left' : `${uses ?? 0} uses left`
  if (how === 'session') return 'this session'
  if (how === 'until' && ends) return `for ${formatTimeLeft(Date.parse(ends), now)}`
  return how === 'always' ? 'always' : how
}
