import { formatAgo, fullTime } from './time.ts'
import { useNow } from './use-now.ts'

type Props = {
  at: string | number
  className?: string
  format?: (at: number, now: number) => string
}

export function Ago({ at, className, format = formatAgo }: Props) {
  const time = typeof at === 'number' ? at : Date.parse(at)
  return (
    <time
      dateTime={typeof at === 'number' ? new Date(at).toISOString() : at}
      title={fullTime(time)}
      className={className}
    >
      {format(time, useNow())}
    </time>
  )
}
