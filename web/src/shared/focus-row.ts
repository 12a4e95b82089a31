/** A virtual list renders a row some frames after scrolling to it. */
const maxFrames = 12

const findRow = (key: string) =>
  document.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"]`)

export function focusRow(key: string, framesLeft = maxFrames): void {
  const row = findRow(key)
  if (row) row.focus({ preventScroll: true })
  else if (framesLeft > 0) requestAnimationFrame(() => focusRow(key, framesLeft - 1))
}

export const scrollToRow = (key: string): void =>
  findRow(key)?.scrollIntoView({ block: 'nearest', inline: 'nearest' })

export function focusedKey(): string | undefined {
  const { activeElement } = document
  return activeElement instanceof HTMLElement ? activeElement.dataset['row'] : undefined
}
