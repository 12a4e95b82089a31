import { useRef, useSyncExternalStore } from 'react'
import { drop, holds, undo } from '../inbox/decision.ts'
import type { Hold } from '../inbox/decision.ts'
import { secondsTo } from '../inbox/text.ts'
import { useKeys } from '../shared/use-keys.ts'
import { useSecond } from '../shared/use-now.ts'
import { Button, IconButton } from '../shared/Button.tsx'
import { Icon } from '../shared/Icon.tsx'
import { useFocusBack } from '../shared/use-focus-back.ts'

/** Decisions that are held for a moment, wherever in the console one has gone meanwhile (C2). */
export function Holds() {
  const list = useSyncExternalStore(holds.subscribe, holds.get)
  useKeys({ z: () => void undo() }, 'everywhere')
  const place = useRef<HTMLDivElement>(null)
  useFocusBack(place)
  return (
    <div ref={place} role="status" className="grid justify-items-end gap-2">
      {list.map((hold, at) => (
        <HoldToast key={hold.ids[0]} hold={hold} isLast={at === list.length - 1} />
      ))}
    </div>
  )
}

function HoldToast({ hold, isLast }: { hold: Hold; isLast: boolean }) {
  const left = secondsTo(hold.until, useSecond())
  const { ids, says } = hold
  return (
    <div className="settle pointer-events-auto flex items-center gap-2.5 rounded-lg border border-line bg-panel py-1.5 pr-1.5 pl-3 shadow-raised">
      <span className="text-accent">
        <Icon name="clock" />
      </span>
      <p>
        {ids.length === 1 ? says : `${says} ${ids.length}`}
        {/* Counting aloud would drown what else is said. */}
        <span aria-hidden className="text-soft">
          , released in {left} s
        </span>
      </p>
      <Button size="sm" icon="undo" {...(isLast && { keys: 'z' })} onClick={() => void undo(hold)}>
        Undo
      </Button>
      <IconButton icon="cross" label="Dismiss" onClick={() => drop(hold)} />
    </div>
  )
}
