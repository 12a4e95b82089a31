import { useKeys } from '../../keys.ts'

export const rowLook = (isOpen: boolean): string =>
  `flex h-9 items-center gap-2.5 border-b border-line px-4 -outline-offset-2 in-data-[density=compact]:h-8 max-md:h-12 ${
    isOpen ? 'bg-accent-bg shadow-[inset_2px_0_var(--accent)]' : 'hover:bg-raised'
  }`

/** j and k walk the rows that are there; Enter follows the link. */
export function useFileKeys(): void {
  const move = (step: 1 | -1) => {
    const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')]
    const focused = document.activeElement
    const at = rows.findIndex((row) => row === focused)
    const open = rows.findIndex((row) => row.getAttribute('aria-current') === 'true')
    const from = at === -1 ? open : at
    rows[from === -1 ? 0 : from + step]?.focus()
  }
  useKeys({ j: () => move(1), k: () => move(-1) })
}
