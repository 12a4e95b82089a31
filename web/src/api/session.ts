import type { RouteAnswers } from '#wire'
import type { Problem } from './client.ts'
import { createStore } from './store.ts'

export type Role = RouteAnswers['GET /api/session']['person']['role']

/** Why there is no session: none was ever here, its link did not work, or it was ended. */
type Why = 'none' | 'link' | 'invitation' | 'ended'
export type SessionState =
  | { readonly status: 'entering' }
  | {
      readonly status: 'open'
      readonly token: string
      /** A link that did not work, where there was a session anyway. */
      readonly notice?: Problem
    }
  | { readonly status: 'closed'; readonly why: Why; readonly problem?: Problem }

const place = 'cowork.session'
const stored = () => localStorage.getItem(place) ?? undefined
const initial = (): SessionState => {
  const token = stored()
  return token ? { status: 'open', token } : { status: 'closed', why: 'none' }
}

function createSession() {
  const { get, set, subscribe } = createStore<SessionState>(initial())

  // Signing in or out in one tab is signing in or out in all.
  addEventListener('storage', ({ key }) => {
    if (key !== place && key !== null) return
    const was = get().status
    set(was === 'open' && !stored() ? { status: 'closed', why: 'ended' } : initial())
  })

  /** A link's code is good for one exchange; what it gives is kept in this origin's storage (I6). */
  async function enter(code: string, why: 'link' | 'invitation') {
    set({ status: 'entering' })
    const before = stored()
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
      localStorage.setItem(place, answer.token)
      set({ status: 'open', token: answer.token })
      // The new session takes the old one's place in this browser.
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
    enter,
    /** The daemon no longer knows this session. */
    end(problem: Problem) {
      localStorage.removeItem(place)
      set({ status: 'closed', why: 'ended', problem })
    },
    async signOut() {
      const token = stored()
      localStorage.removeItem(place)
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

/** Takes the code of a one-time link out of the address before anything else can read or keep it. */
function takeCode(): void {
  const given = new URLSearchParams(location.hash.slice(1))
  const code = given.get('code')
  const invitation = given.get('invite')
  if (!code && !invitation) return
  history.replaceState(null, '', location.pathname + location.search)
  void session.enter(code ?? invitation ?? '', code ? 'link' : 'invitation')
}

/** A link may also be pasted into a tab where the console is open: then only the fragment changes. */
export function startSession(): void {
  takeCode()
  addEventListener('hashchange', takeCode)
}
