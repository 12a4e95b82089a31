const storageKey = 'cowork.welcome'

/** Whether this browser has shown the setup; Settings links to it. */
export const setupSeen = {
  get: (): boolean => localStorage.getItem(storageKey) !== null,
  set: (): void => localStorage.setItem(storageKey, 'seen'),
}
