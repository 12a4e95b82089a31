import type { Item } from '../approval.ts'
import { inAnHour, tomorrow } from '../snooze.ts'
import { snoozed } from '../snooze-store.ts'
import { Button } from '../../shared/Button.tsx'
import { Dialog } from '../../shared/Dialog.tsx'
import { shortTime } from '../../shared/time.ts'
import { useNow } from '../../shared/use-now.ts'
import { toast } from '../../shared/toast.ts'

type Props = {
  items: readonly Item[]
  onClose: () => void
  onDone: (ids: readonly string[]) => void
}

/** Snoozes items in this browser; other people still see them. */
export function SnoozeDialog({ items, onClose, onDone }: Props) {
  const now = useNow()
  const ids = items.map(({ id }) => id)
  const isSnoozed = ids.every((id) => Object.hasOwn(snoozed.get(), id))
  const until = (time: number, name: string) => () => {
    snoozed.until(ids, time)
    toast(`Snoozed until ${name}.`)
    onClose()
    onDone(ids)
  }
  const choices = [
    { name: '1 hour', time: inAnHour(now), timeText: shortTime(inAnHour(now)) },
    {
      name: 'Tomorrow morning',
      time: tomorrow(now),
      timeText: `tomorrow, ${shortTime(tomorrow(now))}`,
    },
  ]
  return (
    <Dialog title={ids.length === 1 ? 'Snooze' : `Snooze ${ids.length}`} onClose={onClose}>
      <p className="text-soft">
        Snoozed items are hidden in this browser only and return automatically.
      </p>
      <div className="grid gap-2">
        {choices.map(({ name, time, timeText }, at) => (
          <Button
            key={name}
            onClick={until(time, timeText)}
            {...(at === 0 && { 'data-autofocus': true })}
          >
            <span className="mr-auto">{name}</span>
            <span className="text-soft">{timeText}</span>
          </Button>
        ))}
        {isSnoozed && (
          <Button
            onClick={() => {
              snoozed.wake(ids)
              onClose()
            }}
          >
            <span className="mr-auto">End snooze</span>
          </Button>
        )}
      </div>
    </Dialog>
  )
}
