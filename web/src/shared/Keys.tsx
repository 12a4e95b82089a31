import { isMac } from './use-keys.ts'

const keyNames: Record<string, string> = {
  mod: isMac ? '⌘' : 'Ctrl',
  shift: isMac ? '⇧' : 'Shift',
  escape: 'Esc',
  enter: '↵',
}

const formatKey = (key: string) =>
  keyNames[key.toLowerCase()] ?? (key.length === 1 ? key.toUpperCase() : key)

/** Shows a key combination; `bare` is for colored backgrounds. */
export function KeyHint({ combo, bare = false }: { combo: string; bare?: boolean }) {
  const className = bare ? 'border-current/45' : 'border-line bg-panel text-soft'
  return (
    <kbd
      className={`shrink-0 rounded-sm border border-b-2 px-1.25 font-mono text-[11px] leading-4 font-normal whitespace-nowrap ${className}`}
    >
      {combo.split(/[ +]/).map(formatKey).join(' ')}
    </kbd>
  )
}
