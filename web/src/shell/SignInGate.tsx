import type { SessionState } from '../api/session.ts'
import { CopyBox } from '../shared/Copy.tsx'
import { Icon } from '../shared/Icon.tsx'
import { Hint } from '../shared/States.tsx'

type Closed = Exclude<SessionState, { status: 'open' }>

export function SignInGate({ state }: { state: Closed }) {
  const target = location.pathname + location.search
  return (
    <main className="grid min-h-full place-items-center px-5 py-10">
      <div className="grid w-full max-w-105 gap-5">
        <p className="flex items-center gap-2 font-[650] tracking-[-.01em]">
          <Mark />
          cowork
        </p>
        {state.status === 'entering' ? (
          <p role="status" className="text-soft">
            Signing in…
          </p>
        ) : (
          <>
            <Explanation {...state} />
            {state.why !== 'invitation' && <CopyBox text="cowork open" what="command" />}
            {target !== '/' && (
              <p className="text-faint">
                After sign-in: <code className="font-mono text-code break-all">{target}</code>
              </p>
            )}
          </>
        )}
      </div>
    </main>
  )
}

const titles = {
  none: 'Sign in from your terminal',
  link: 'Invalid sign-in link',
  invitation: 'Invalid invitation',
  ended: 'Session ended',
}

const nextSteps = {
  none: 'Run this command on the computer that runs cowork. The console opens signed in.',
  link: 'A sign-in link works once, within 5 minutes. Run this command for a new link.',
  invitation: 'Ask the person who invited you for a new link.',
  ended: 'Run this command to sign in again.',
}

function Explanation({ why, problem }: Extract<Closed, { status: 'closed' }>) {
  return (
    <div className="grid gap-2">
      <h1 className="text-lg font-[620] tracking-[-.01em] text-balance">{titles[why]}</h1>
      {problem && (
        <p role="alert" className="flex gap-2 text-suggest">
          <Icon name="info" className="mt-0.5" />
          <span className="text-text">
            <Hint text={problem.message} />
          </span>
        </p>
      )}
      <p className="text-soft">{nextSteps[why]}</p>
    </div>
  )
}

export const Mark = () => (
  <span aria-hidden className="size-4 rounded-[5px] bg-linear-135 from-accent to-act" />
)
