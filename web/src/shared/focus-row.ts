/** The list draws what is in sight only, and a frame or two after it was told to. */
const frames = 12

export function focusRow(key: string, left = frames): void {
  const row = document.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"]`)
  if (row) row.focus({ preventScroll: true })
  else if (left > 0) requestAnimationFrame(() => focusRow(key, left - 1))
}
