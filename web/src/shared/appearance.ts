import { createStore } from '../api/store.ts'

export type Appearance = {
  readonly theme: 'system' | 'light' | 'dark'
  readonly density: 'calm' | 'compact'
  readonly motion: 'system' | 'off'
  /** Single-key shortcuts can be turned off (WCAG 2.1.4). */
  readonly keys: 'on' | 'off'
}

const place = 'cowork.look'
const usual: Appearance = { theme: 'system', density: 'calm', motion: 'system', keys: 'on' }

function stored(): Appearance {
  try {
    return { ...usual, ...(JSON.parse(localStorage.getItem(place) ?? '{}') as Partial<Appearance>) }
  } catch {
    return usual
  }
}

function show({ theme, density, motion }: Appearance) {
  Object.assign(document.documentElement.dataset, { theme, density, motion })
}

const store = createStore(stored())
show(store.get())
addEventListener('storage', ({ key }) => {
  if (key !== place) return
  store.set(stored())
  show(store.get())
})

export const appearance = {
  get: store.get,
  subscribe: store.subscribe,
  change(part: Partial<Appearance>) {
    const next = { ...store.get(), ...part }
    localStorage.setItem(place, JSON.stringify(next))
    store.set(next)
    show(next)
  },
}
