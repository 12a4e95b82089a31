/** A virtual list renders a row some frames after scrolling to it. */
const frames = 12

const findRow = (key: string) =>
  document.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"]`)

export function focusRow(key: string, left = frames): void {
  const row = findRow(key)
  if (row) row.focus({ preventScroll: true })
  else if (left > 0) requestAnimationFrame(() => focusRow(key, left - 1))
}

export const showRow = (key: string): void =>
  findRow(key)?.scrollIntoView({ block: 'nearest', inline: 'nearest' })

export function focusedKey(): string | undefined {
  const { activeElement } = document
  return activeElement instanceof HTMLElement ? activeElement.dataset['row'] : undefined
}
