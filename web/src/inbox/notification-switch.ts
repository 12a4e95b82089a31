import { createStore } from '../api/store.ts'
import { noticesOf } from './notification.ts'
import { onArrival } from './queue.ts'

/** What the person chose here, and what the browser lets them choose. */
export type Notifying = 'on' | 'off' | 'blocked' | 'unsupported'

const place = 'cowork.notify'

function current(): Notifying {
  if (!('Notification' in globalThis) || !isSecureContext) return 'unsupported'
  if (Notification.permission === 'denied') return 'blocked'
  return localStorage.getItem(place) === 'on' && Notification.permission === 'granted'
    ? 'on'
    : 'off'
}

const store = createStore(current())
addEventListener('storage', ({ key }) => {
  if (key === place) store.set(current())
})

export const notifying = {
  get: store.get,
  subscribe: store.subscribe,
  /** Only after a press: browsers ask nobody otherwise. */
  async turn(choice: 'on' | 'off') {
    if (choice === 'on' && Notification.permission === 'default')
      await Notification.requestPermission()
    localStorage.setItem(place, choice)
    store.set(current())
  },
}

/** Tells of what cannot wait while nobody looks at this page; a press leads to the item. */
export function startNotices(open: (id: string | undefined) => void): void {
  onArrival((items) => {
    if (!document.hidden || notifying.get() !== 'on') return
    for (const { title, body, tag, id } of noticesOf(items)) {
      const notice = new Notification(title, { body, tag })
      notice.addEventListener('click', () => {
        window.focus()
        open(id)
        notice.close()
      })
    }
  })
}
