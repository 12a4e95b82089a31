import { useEffect, useState } from 'react'
import { live } from '../api/live.ts'

/** Announces the number of new entries at this interval, not each entry. */
const intervalMs = 5000

export function Announcer() {
  const [text, setText] = useState('')
  useEffect(() => {
    let count = 0
    const stop = live.onEntries((entries) => (count += entries.length))
    const timer = setInterval(() => {
      if (count > 0) setText(count === 1 ? '1 new entry' : `${count} new entries`)
      count = 0
    }, intervalMs)
    return () => {
      stop()
      clearInterval(timer)
    }
  }, [])
  return (
    <p aria-live="polite" className="sr-only">
      {text}
    </p>
  )
}
