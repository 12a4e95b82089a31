import { useEffect, useSyncExternalStore } from 'react'
import { session } from '../api/session.ts'
import { toast } from '../shared/toast.ts'
import { SignInGate } from './SignInGate.tsx'
import { Shell } from './Shell.tsx'

/** Keeps the URL while there is no session and opens its page after sign-in. */
export function Root() {
  const state = useSyncExternalStore(session.subscribe, session.get)
  const notice = state.status === 'open' ? state.notice : undefined
  useEffect(() => {
    if (notice) toast(`${notice.message} You are already signed in.`, true)
  }, [notice])
  return state.status === 'open' ? <Shell /> : <SignInGate state={state} />
}
