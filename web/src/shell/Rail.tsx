import { Link } from '@tanstack/react-router'
import { openDialog } from './dialog.ts'
import { usePendingItems } from '../inbox/use-pending-items.ts'
import { screens } from '../screens.ts'
import { Mark } from './SignInGate.tsx'
import { Icon } from '../shared/Icon.tsx'

/** The navigation: on the left, or at the bottom of a phone. */
export const Rail = ({ mayHalt }: { mayHalt: boolean }) => (
  <nav
    aria-label="Main"
    className="row-span-3 row-start-1 flex flex-col gap-0.5 border-r border-line px-2 py-3 max-md:row-span-1 max-md:row-start-4 max-md:flex-row max-md:gap-0 max-md:overflow-x-auto max-md:border-t max-md:border-r-0 max-md:p-1 max-md:pb-[max(4px,env(safe-area-inset-bottom))] max-md:[scrollbar-width:none]"
  >
    <p className="flex items-center gap-2 px-2.5 pt-0.5 pb-3.5 font-[650] tracking-[-.01em] max-md:hidden">
      <Mark />
      cowork
    </p>
    {screens.map(({ to, title, icon }) => (
      <Link
        key={to}
        to={to}
        className="relative flex h-8 items-center gap-2.5 rounded px-2.5 text-soft transition-colors hover:text-text aria-[current=page]:bg-raised aria-[current=page]:font-[550] aria-[current=page]:text-text -outline-offset-2 max-md:h-12 max-md:min-w-13 max-md:flex-1 max-md:flex-col max-md:justify-center max-md:gap-0.5 max-md:px-0 max-md:text-[11px]"
      >
        <Icon name={icon} />
        <span className="max-md:contents">{title}</span>
        {to === '/inbox' && <PendingCount />}
      </Link>
    ))}
    <span className="flex-1 max-md:hidden" />
    {mayHalt && (
      <button
        type="button"
        onClick={() => openDialog('halt')}
        className="flex h-8 items-center justify-center gap-2 rounded border border-line text-escalate transition-colors hover:bg-escalate-bg max-md:hidden"
      >
        <Icon name="halt" />
        Halt all agents
      </button>
    )}
  </nav>
)

/** The number of pending items, highlighted if one of them is urgent. */
function PendingCount() {
  const { total, urgent } = usePendingItems()
  if (total < 1) return null
  return (
    <span
      className={`ml-auto flex items-center gap-1 text-xs font-[550] max-md:absolute max-md:top-0.5 max-md:right-0.5 max-md:m-0 max-md:rounded-full max-md:bg-raised max-md:px-1 max-md:text-[10px] max-md:leading-3.5 ${
        urgent > 0 ? 'text-escalate' : 'text-text'
      }`}
    >
      {/* A phone has space for two digits and no icon. */}
      {urgent > 0 && <Icon name="escalate" size={12} className="max-md:hidden" />}
      <span className="max-md:hidden">{total > 999 ? '999+' : total}</span>
      <span className="md:hidden">{total > 99 ? '99+' : total}</span>
      <span className="sr-only">
        {' pending'}
        {urgent > 0 && `, ${urgent} urgent`}
      </span>
    </span>
  )
}
