import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Button } from '../shared/Button.tsx'
import { Awaited, Empty } from '../shared/States.tsx'
import { useIsOwner, useMayAct } from '../settings/roles.ts'
import { AddGrant } from './AddGrant.tsx'
import { useRefetch } from '../api/use-entries.ts'
import { grantsQuery, standing, usesGrant } from './file-queries.ts'
import { GrantLine } from './GrantLine.tsx'
import { useFocusReturn } from './use-file-keys.ts'

/** An agent at work uses its grants many times a second: how long ago that was is seen soon enough. */
const restMs = 3000

/** What people let agents see of their own files, each to be taken back (GR4). */
export function GrantsPage() {
  const grants = useQuery(grantsQuery)
  const data = standing(grants)
  const isOwner = useIsOwner()
  const mayRevoke = useMayAct()
  const [isAdding, setAdding] = useState(false)
  useRefetch(usesGrant, grantsQuery, restMs)
  const place = useRef<HTMLElement>(null)
  useFocusReturn(place, 'li')
  const add = isOwner && (
    <Button icon="plus" onClick={() => setAdding(true)}>
      Grant access
    </Button>
  )
  if (!data) return <Awaited query={grants} what="grants" />
  return (
    <section
      ref={place}
      tabIndex={-1}
      aria-label="Grants"
      className="scroll-thin min-h-0 flex-1 overflow-y-auto px-5 py-4 outline-none max-md:px-4"
    >
      {data.length === 0 ? (
        <Empty icon="key" title="Agents see nothing of yours">
          <p>
            They have the workspace. What else they need they ask for, and it waits in the Inbox.
          </p>
          {add}
        </Empty>
      ) : (
        <>
          <header className="flex flex-wrap items-center justify-between gap-3 pb-3">
            <p className="max-w-130 text-pretty text-soft">
              Files and folders of yours that agents may enter. Revoking ends it within a second.
            </p>
            {add}
          </header>
          <ul aria-label="Grants" className="border-t border-line">
            {data.map((grant) => (
              <GrantLine key={grant.id} grant={grant} mayRevoke={mayRevoke} />
            ))}
          </ul>
        </>
      )}
      {isAdding && <AddGrant onClose={() => setAdding(false)} />}
    </section>
  )
}
