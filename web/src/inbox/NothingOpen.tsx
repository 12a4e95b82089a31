import { Keys } from '../shared/Keys.tsx'
import type { Inbox } from './use-inbox.ts'

const hints = [
  ['j', 'next'],
  ['Enter', 'open'],
  ['x', 'select'],
  ['a', 'approve'],
  ['?', 'all keys'],
] as const

export function NothingOpen({ inbox }: { inbox: Inbox }) {
  const { all = 0 } = inbox.counts
  if (inbox.status !== 'success' || all === 0) return <div className="flex-1 max-md:hidden" />
  return (
    <section
      aria-label="Nothing is open"
      className="grid min-w-0 flex-1 place-content-center justify-items-center gap-4 p-6 text-center text-soft max-md:hidden"
    >
      <p>{all === 1 ? 'One waits for you.' : `${all} wait for you.`}</p>
      <ul className="flex flex-wrap justify-center gap-x-4 gap-y-2 text-xs text-faint">
        {hints.map(([keys, does]) => (
          <li key={keys} className="flex items-center gap-1.5">
            <Keys combo={keys} />
            {does}
          </li>
        ))}
      </ul>
    </section>
  )
}
