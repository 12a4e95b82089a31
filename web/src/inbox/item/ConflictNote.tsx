import { Link } from '@tanstack/react-router'
import type { Item, PolicyConflict } from '../approval.ts'
import { Plain } from '../../shared/Plain.tsx'
import { Note } from '../../shared/States.tsx'

/** The banner above a request that the active policy would block. */
export function ConflictNote({ item }: { item: Item }) {
  if (!item.policy_conflict || item.status !== 'pending') return null
  return (
    <section aria-label="Policy conflict">
      <Note tone="escalate" icon="warn">
        <p>
          <b>Blocked by the active policy</b>
        </p>
        <ConflictText conflict={item.policy_conflict} />
        <p className="mt-1 text-xs text-soft">
          The agent asked before this version was active.{' '}
          <Link to="/policies" className="underline underline-offset-3">
            Policies
          </Link>
        </p>
      </Note>
    </section>
  )
}

export function ConflictText({ conflict }: { conflict: PolicyConflict }) {
  const { policy, version, rule, message } = conflict
  return (
    <p>
      {policy !== null && (
        <>
          <Plain as="b" text={rule === null ? policy : `${policy}, rule ${rule}`} />
          {': '}
        </>
      )}
      <Plain text={message} />{' '}
      <span className="text-soft" title={version}>
        (version {version.slice(0, 8)})
      </span>
    </p>
  )
}
