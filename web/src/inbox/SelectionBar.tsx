import { Button, IconButton } from '../shared/Button.tsx'

type Props = {
  count: number
  mayDecide: boolean
  isBusy: boolean
  onApprove: () => void
  onDeny: () => void
  onSnooze: () => void
  onClear: () => void
}

/** One decision about many: each is recorded by itself, and none creates a standing permission. */
export const SelectionBar = (props: Props) => (
  <div
    role="group"
    aria-label="Selected"
    className="settle flex flex-wrap items-center gap-1.5 border-t border-line bg-panel px-4 py-2.5"
  >
    <p role="status" className="mr-auto font-[550] whitespace-nowrap">
      {props.count} selected
    </p>
    {props.mayDecide && (
      <>
        <Button tone="primary" size="sm" keys="a" disabled={props.isBusy} onClick={props.onApprove}>
          Approve
        </Button>
        <Button size="sm" keys="d" disabled={props.isBusy} onClick={props.onDeny}>
          Deny
        </Button>
      </>
    )}
    <Button size="sm" keys="s" className="max-md:hidden" onClick={props.onSnooze}>
      Snooze
    </Button>
    <IconButton icon="cross" label="Select none" onClick={props.onClear} />
  </div>
)
