import { useState } from 'react'

export function useOpenKeys() {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const toggle = (key: string) =>
    setOpen((keys) => {
      const next = new Set(keys)
      if (!next.delete(key)) next.add(key)
      return next
    })
  const unfold = (key: string) => setOpen((keys) => new Set([...keys, key]))
  return { open, toggle, unfold }
}
