const place = 'cowork.welcome'

/** Whether this browser was shown the first steps; Settings leads there again. */
export const setupSeen = {
  get: (): boolean => localStorage.getItem(place) !== null,
  set: (): void => localStorage.setItem(place, 'seen'),
}
