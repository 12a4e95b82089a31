import { useEffect, useState } from 'react'
import { live } from '../api/live.ts'

/** New entries are told politely and seldom: the count of what came, not each of them. */
const pause = 5000

export function Announcer() {
  const [text, setText] = useState('')
  useEffect(() => {
    let count = 0
    const stop = live.onEntries((entries) => (count += entries.length))
    const timer = setInterval(() => {
      if (count > 0) setText(count === 1 ? '1 new entry' : `${count} new entries`)
      count = 0
    }, pause)
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
