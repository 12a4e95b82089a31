import type { RouteAnswers } from '#wire'
import type { Problem } from './client.ts'
import { createStore } from './store.ts'

export type Role = RouteAnswers['GET /api/session']['person']['role']

/** The reason for a closed session: none existed, a link failed, or it ended. */
type ClosedReason = 'none' | 'link' | 'invitation' | 'ended'
export type SessionState =
  | { readonly status: 'entering' }
  | {
      readonly status: 'open'
      readonly token: string
      /** The error of a link that failed while a session was open. */
      readonly notice?: Problem
    }
  | { readonly status: 'closed'; readonly why: ClosedReason; readonly problem?: Problem }

const storageKey = 'cowork.session'
const readStored = () => localStorage.getItem(storageKey) ?? undefined
const initial = (): SessionState => {
  const token = readStored()
  return token ? { status: 'open', token } : { status: 'closed', why: 'none' }
}

function createSession() {
  const { get, set, subscribe } = createStore<SessionState>(initial())

  // Signing in or out applies to all tabs.
  addEventListener('storage', ({ key }) => {
    if (key !== storageKey && key !== null) return
    const previousStatus = get().status
    set(previousStatus === 'open' && !readStored() ? { status: 'closed', why: 'ended' } : initial())
  })

  /** Exchanges a single-use code for a token and stores it for this origin (I6). */
  async function signIn(code: string, why: 'link' | 'invitation') {
    set({ status: 'entering' })
    const before = readStored()
    try {
      const response = await fetch('/api/sessions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code }),
      })
      const answer = (await response.json()) as { token?: string; error?: Problem }
      if (!answer.token) {
        const { error } = answer
        if (before) set({ status: 'open', token: before, ...(error && { notice: error }) })
        else set({ status: 'closed', why, ...(error && { problem: error }) })
        return
      }
      localStorage.setItem(storageKey, answer.token)
      set({ status: 'open', token: answer.token })
      // The new session replaces the old one in this browser.
      if (before && why === 'link') await signOff(before)
    } catch {
      const problem = { code: 'unreachable', message: 'Cannot reach cowork.' }
      set({ status: 'closed', why, problem })
    }
  }

  return {
    get,
    subscribe,
    token(): string | undefined {
      const state = get()
      return state.status === 'open' ? state.token : undefined
    },
    signIn,
    /** Handles a session that the daemon no longer accepts. */
    end(problem: Problem) {
      localStorage.removeItem(storageKey)
      set({ status: 'closed', why: 'ended', problem })
    },
    async signOut() {
      const token = readStored()
      localStorage.removeItem(storageKey)
      set({ status: 'closed', why: 'none' })
      if (token) await signOff(token)
    },
  }
}

const signOff = (token: string) =>
  fetch('/api/session', { method: 'DELETE', headers: { authorization: `Bearer ${token}` } }).catch(
    () => undefined,
  )

export const session = createSession()

/** Removes the code of a sign-in link from the URL before anything else can read or store it. */
function consumeCode(): void {
  const params = new URLSearchParams(location.hash.slice(1))
  const code = params.get('code')
  const invitation = params.get('invite')
  if (!code && !invitation) return
  history.replaceState(null, '', location.pathname + location.search)
  void session.signIn(code ?? invitation ?? '', code ? 'link' : 'invitation')
}

/** Also handles a link pasted into an open console, which changes only the fragment. */
export function startSession(): void {
  consumeCode()
  addEventListener('hashchange', consumeCode)
}
