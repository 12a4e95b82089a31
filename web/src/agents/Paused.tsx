import { useQuery } from '@tanstack/react-query'
import { Plain } from '../shared/Plain.tsx'
import { Note } from '../shared/States.tsx'
import { statusQuery } from '../api/queries.ts'
import type { Halt } from '../api/queries.ts'
import { ago } from '../shared/time.ts'
import { useNow } from '../shared/use-now.ts'

export const useHalt = (agent: string): Halt | undefined =>
  useQuery(statusQuery).data?.halts.find(({ scope }) => scope === `agent:${agent}`)

export function Paused({ agent }: { agent: string }) {
  const halt = useHalt(agent)
  const now = useNow()
  if (!halt) return null
  return (
    <Note tone="escalate" icon="halt">
      <b>It is paused</b>
      {halt.reason && (
        <>
          : <Plain text={halt.reason} />
        </>
      )}{' '}
      <span className="text-soft">
        by <Plain text={halt.by} />, {ago(Date.parse(halt.at), now)}. Its calls are refused.
      </span>
    </Note>
  )
}
