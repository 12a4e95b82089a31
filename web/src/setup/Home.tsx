import { useQuery } from '@tanstack/react-query'
import { Navigate } from '@tanstack/react-router'
import { agentsQuery } from '../agents/agent-queries.ts'
import { meQuery } from '../api/queries.ts'
import { setupSeen } from './setup-visit.ts'
import { grantsQuery } from '../files/file-queries.ts'

/** Redirects to the setup of a fresh installation, otherwise to the Inbox (C9). */
export function Home() {
  const me = useQuery(meQuery)
  const canBeFresh = !setupSeen.get() && me.data?.person.role === 'owner'
  const agents = useQuery({ ...agentsQuery, enabled: canBeFresh })
  const grants = useQuery({ ...grantsQuery, enabled: canBeFresh })
  if (!me.data && !me.error && !setupSeen.get()) return null
  if (!canBeFresh || agents.error || grants.error) return <Navigate to="/inbox" replace />
  if (!agents.data || !grants.data) return null
  const isFresh = agents.data.length === 0 && grants.data.length === 0
  return <Navigate to={isFresh ? '/welcome' : '/inbox'} replace />
}
