import { createStore } from '../api/store.ts'

export type Appearance = {
  readonly theme: 'system' | 'light' | 'dark'
  readonly density: 'calm' | 'compact'
  readonly motion: 'system' | 'off'
  /** Single-key shortcuts can be turned off (WCAG 2.1.4). */
  readonly keys: 'on' | 'off'
}

const storageKey = 'cowork.look'
const defaults: Appearance = { theme: 'system', density: 'calm', motion: 'system', keys: 'on' }

function readStored(): Appearance {
  try {
    return {
      ...defaults,
      ...(JSON.parse(localStorage.getItem(storageKey) ?? '{}') as Partial<Appearance>),
    }
  } catch {
    return defaults
  }
}

function applyToDocument({ theme, density, motion }: Appearance) {
  Object.assign(document.documentElement.dataset, { theme, density, motion })
}

const store = createStore(readStored())
applyToDocument(store.get())
addEventListener('storage', ({ key }) => {
  if (key !== storageKey) return
  store.set(readStored())
  applyToDocument(store.get())
})

export const appearance = {
  get: store.get,
  subscribe: store.subscribe,
  change(part: Partial<Appearance>) {
    const next = { ...store.get(), ...part }
    localStorage.setItem(storageKey, JSON.stringify(next))
    store.set(next)
    applyToDocument(next)
  },
}
