import { createStore } from '../api/store.ts'
import { buildNotifications } from './notification.ts'
import { onArrival } from './queue.ts'

/** The choice of the person, limited by the permission of the browser. */
export type NotificationState = 'on' | 'off' | 'blocked' | 'unsupported'

const storageKey = 'cowork.notify'

function readState(): NotificationState {
  if (!('Notification' in globalThis) || !isSecureContext) return 'unsupported'
  if (Notification.permission === 'denied') return 'blocked'
  return localStorage.getItem(storageKey) === 'on' && Notification.permission === 'granted'
    ? 'on'
    : 'off'
}

const store = createStore(readState())
addEventListener('storage', ({ key }) => {
  if (key === storageKey) store.set(readState())
})

export const notificationSetting = {
  get: store.get,
  subscribe: store.subscribe,
  /** Must be called from a click: browsers require a user gesture. */
  async turn(choice: 'on' | 'off') {
    if (choice === 'on' && Notification.permission === 'default')
      await Notification.requestPermission()
    localStorage.setItem(storageKey, choice)
    store.set(readState())
  },
}

/** Shows notifications of urgent items while the page is hidden; a click opens the item. */
export function startNotifications(open: (id: string | undefined) => void): void {
  onArrival((items) => {
    if (!document.hidden || notificationSetting.get() !== 'on') return
    for (const { title, body, tag, id } of buildNotifications(items)) {
      const notification = new Notification(title, { body, tag })
      notification.addEventListener('click', () => {
        window.focus()
        open(id)
        notification.close()
      })
    }
  })
}
