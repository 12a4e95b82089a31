import { createStore } from '../api/store.ts'

export type Look = {
  readonly theme: 'system' | 'light' | 'dark'
  readonly density: 'calm' | 'compact'
  readonly motion: 'system' | 'off'
  /** Single-letter keys can be switched off (WCAG 2.1.4). */
  readonly keys: 'on' | 'off'
}

const place = 'cowork.look'
const usual: Look = { theme: 'system', density: 'calm', motion: 'system', keys: 'on' }

function stored(): Look {
  try {
    return { ...usual, ...(JSON.parse(localStorage.getItem(place) ?? '{}') as Partial<Look>) }
  } catch {
    return usual
  }
}

function show({ theme, density, motion }: Look) {
  Object.assign(document.documentElement.dataset, { theme, density, motion })
}

const store = createStore(stored())
show(store.get())
addEventListener('storage', ({ key }) => {
  if (key !== place) return
  store.set(stored())
  show(store.get())
})

export const look = {
  get: store.get,
  subscribe: store.subscribe,
  change(part: Partial<Look>) {
    const next = { ...store.get(), ...part }
    localStorage.setItem(place, JSON.stringify(next))
    store.set(next)
    show(next)
  },
}
