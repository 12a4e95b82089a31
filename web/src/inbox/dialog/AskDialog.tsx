import { isHandoff } from '../approval.ts'
import { AllowDialog } from './AllowDialog.tsx'
import { ConflictDialog } from './ConflictDialog.tsx'
import { DenyDialog } from './DenyDialog.tsx'
import { EditDialog } from './EditDialog.tsx'
import { HandBackDialog } from './HandBackDialog.tsx'
import { ResolveDialog } from './ResolveDialog.tsx'
import { SnoozeDialog } from './SnoozeDialog.tsx'
import { UntilDialog } from './UntilDialog.tsx'
import type { Acts, Ask } from '../use-acts.ts'

/** The dialog for what is asked; those about one item know which. */
export function AskDialog({ ask: { name, items }, acts }: { ask: Ask; acts: Acts }) {
  const [item] = items
  const common = { onClose: acts.closeAsk, send: acts.send }
  if (name === 'snooze')
    return <SnoozeDialog items={items} onClose={acts.closeAsk} onDone={acts.leave} />
  if (name === 'deny') return <DenyDialog {...common} items={items} />
  if (!item) return null
  if (name === 'resolve' || (name === 'hand_back' && isHandoff(item)))
    return (
      <ResolveDialog
        item={item}
        handsBack={name === 'hand_back'}
        answer={acts.answer}
        onClose={acts.closeAsk}
      />
    )
  if (name === 'conflict') return <ConflictDialog {...common} item={item} />
  if (name === 'until') return <UntilDialog {...common} item={item} />
  if (name === 'edit') return <EditDialog {...common} item={item} />
  return name === 'allow' ? (
    <AllowDialog {...common} item={item} />
  ) : (
    <HandBackDialog {...common} item={item} />
  )
}
