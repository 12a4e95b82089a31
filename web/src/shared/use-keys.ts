import { useEffectEvent, useLayoutEffect } from 'react'
import { appearance } from './appearance.ts'

/** Actions by key: `j`, `?`, `g a` (a chord), `mod+k` (Ctrl, or ⌘ on a Mac). */
type Bindings = Readonly<Record<string, () => void>>

const layers: (() => Bindings)[] = []
const chordTimeoutMs = 1200
let pending: { first: string; until: number } | undefined

addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.isComposing) return
  // A held key repeats navigation but never a decision.
  if (event.repeat && !/^[jk]$/i.test(event.key)) return
  const combo = toCombo(event)
  if (combo === undefined) return
  const chord = pending && pending.until > event.timeStamp ? `${pending.first} ${combo}` : combo
  pending = undefined
  const act = findAction(chord)
  if (act) {
    event.preventDefault()
    act()
  } else if (startsChord(combo)) pending = { first: combo, until: event.timeStamp + chordTimeoutMs }
})

function toCombo(event: KeyboardEvent): string | undefined {
  if (event.ctrlKey || event.metaKey)
    return event.altKey ? undefined : `mod+${event.key.toLowerCase()}`
  if (event.altKey || isTyping(event.target) || document.querySelector('dialog[open]'))
    return undefined
  if (event.key.length === 1 && appearance.get().keys === 'off') return undefined
  return event.key
}

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.matches('input, textarea, select, [role="menu"] *, [role="tablist"] *'))

/** Returns the action of the innermost layer that binds the key. */
const findAction = (chord: string) =>
  layers
    .toReversed()
    .map((layer) => layer()[chord])
    .find((act) => act !== undefined)

const startsChord = (key: string) =>
  layers.some((layer) => Object.keys(layer()).some((chord) => chord.startsWith(`${key} `)))

/** Binds keys. A binding with reach `everywhere` applies if no screen binds the key. */
export function useKeys(bindings: Bindings, reach: 'screen' | 'everywhere' = 'screen'): void {
  const current = useEffectEvent(() => bindings)
  // A layout effect, because a key can follow before the first paint.
  useLayoutEffect(() => {
    const layer = () => current()
    if (reach === 'screen') layers.push(layer)
    else layers.unshift(layer)
    return () => {
      layers.splice(layers.indexOf(layer), 1)
    }
  }, [reach])
}

export const isMac = /mac|iphone|ipad/i.test(navigator.platform)
