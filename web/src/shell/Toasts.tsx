import { useRef, useSyncExternalStore } from 'react'
import type { ReactNode } from 'react'
import { dismissToast, toasts } from '../shared/toast.ts'
import { Button, IconButton, UndoLabel } from '../shared/Button.tsx'
import { Icon } from '../shared/Icon.tsx'
import { Hint } from '../shared/States.tsx'
import { useRestoreFocus } from '../shared/use-focus-back.ts'
import { dismissDeferred, deferredDecisions, undo } from '../inbox/decision.ts'
import type { DeferredDecision } from '../inbox/decision.ts'
import { secondsUntil } from '../inbox/text.ts'
import { useKeys } from '../shared/use-keys.ts'
import { useSecond } from '../shared/use-now.ts'

export function Toasts({ children }: { children: ReactNode }) {
  const list = useSyncExternalStore(toasts.subscribe, toasts.get)
  const container = useRef<HTMLDivElement>(null)
  useRestoreFocus(container)
  return (
    // Above the decision bar, whose height varies; on a phone also above the navigation.
    <div className="pointer-events-none fixed right-4 bottom-[calc(max(60px,var(--bar,0px))+12px)] z-30 grid max-w-[calc(100vw-32px)] justify-items-end gap-2 max-md:bottom-[calc(max(12px,var(--bar,0px))+68px)]">
      <div ref={container} role="status" className="grid justify-items-end gap-2">
        {list.map(({ id, text, isProblem, act }) => (
          <div
            key={id}
            className="settle pointer-events-auto flex max-w-105 items-center gap-2.5 rounded-lg border border-line bg-panel py-1.5 pr-1.5 pl-3 shadow-raised"
          >
            <Icon
              name={isProblem ? 'warn' : 'check'}
              className={isProblem ? 'text-escalate' : 'text-act'}
            />
            <Hint as="p" className="min-w-0 [overflow-wrap:anywhere]" text={text} />
            {act && (
              <Button
                size="sm"
                onClick={() => {
                  dismissToast(id)
                  act.run()
                }}
              >
                {act.label}
              </Button>
            )}
            <IconButton icon="cross" label="Dismiss" onClick={() => dismissToast(id)} />
          </div>
        ))}
      </div>
      {children}
    </div>
  )
}

/** Shows deferred decisions with Undo on every screen (C2). */
export function UndoBar() {
  const list = useSyncExternalStore(deferredDecisions.subscribe, deferredDecisions.get)
  useKeys({ z: () => void undo() }, 'everywhere')
  const place = useRef<HTMLDivElement>(null)
  useRestoreFocus(place)
  return (
    <div ref={place} role="status" className="grid justify-items-end gap-2">
      {list.map((decision, at) => (
        <DeferredToast key={decision.ids[0]} hold={decision} isLast={at === list.length - 1} />
      ))}
    </div>
  )
}

function DeferredToast({ hold, isLast }: { hold: DeferredDecision; isLast: boolean }) {
  const left = secondsUntil(hold.until, useSecond())
  const { ids, label } = hold
  return (
    <div className="settle pointer-events-auto flex items-center gap-2.5 rounded-lg border border-line bg-panel py-1.5 pr-1.5 pl-3 shadow-raised">
      <Icon name="clock" className="text-accent" />
      <p>{ids.length === 1 ? label : `${label} ${ids.length}`}</p>
      <Button size="sm" icon="undo" {...(isLast && { keys: 'z' })} onClick={() => void undo(hold)}>
        <UndoLabel seconds={left} />
      </Button>
      <IconButton icon="cross" label="Dismiss" onClick={() => dismissDeferred(hold)} />
    </div>
  )
}
