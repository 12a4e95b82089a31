const place = 'cowork.welcome'

/** Whether this browser has shown the setup; Settings links to it. */
export const setupSeen = {
  get: (): boolean => localStorage.getItem(place) !== null,
  set: (): void => localStorage.setItem(place, 'seen'),
}
