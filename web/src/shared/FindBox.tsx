import { useEffect, useRef } from 'react'
import { useKeys } from './use-keys.ts'
import { Icon } from './Icon.tsx'

const debounceMs = 200

type Props = { what: string; text: string | undefined; onFind: (text: string) => void }

/** Filters the list of the screen while typing; `/` focuses the field. */
export function SearchBox({ what, text = '', onFind }: Props) {
  const input = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useKeys({ '/': () => input.current?.focus() })
  useEffect(() => () => clearTimeout(timer.current), [])
  const lastSent = useRef(text)
  useEffect(() => {
    // Back or a link changed the URL.
    if (input.current && text !== lastSent.current) input.current.value = text
    lastSent.current = text
  }, [text])
  const submit = (value: string) => {
    clearTimeout(timer.current)
    lastSent.current = value.trim()
    if (lastSent.current !== text) onFind(lastSent.current)
  }
  return (
    <form
      role="search"
      className="flex h-7 min-w-0 flex-1 items-center gap-1.5 rounded border border-line bg-panel pl-2 text-faint focus-within:border-edge max-md:h-9"
      onSubmit={(event) => {
        event.preventDefault()
        submit(input.current?.value ?? '')
        input.current?.blur()
      }}
    >
      <Icon name="search" size={14} />
      <input
        ref={input}
        type="search"
        aria-label={`Find in ${what}`}
        placeholder="Find"
        defaultValue={text}
        maxLength={200}
        onInput={(event) => {
          const { value } = event.currentTarget
          clearTimeout(timer.current)
          timer.current = setTimeout(() => submit(value), debounceMs)
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          event.preventDefault()
          event.currentTarget.value = ''
          submit('')
          event.currentTarget.blur()
        }}
        className="h-full min-w-0 flex-1 bg-transparent pr-1 text-xs text-text outline-none max-md:text-[16px]"
      />
    </form>
  )
}
