import { useMutation } from '@tanstack/react-query'
import type { Decision, Item } from '../approval.ts'

export type Sending = {
  readonly send: (items: readonly Item[], decision: Decision) => Promise<void>
  readonly onClose: () => void
}

/** Sends the decision of a dialog, which closes when it was taken and says why when it was not. */
export function useDecision({ send, onClose }: Sending, items: readonly Item[]) {
  const { mutate, error, isPending } = useMutation({
    mutationFn: (decision: Decision) => send(items, decision),
    onSuccess: onClose,
  })
  return { submit: (decision: Decision) => mutate(decision), error, isPending }
}
