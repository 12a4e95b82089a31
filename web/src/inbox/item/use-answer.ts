import { useState } from 'react'
import { ApiError } from '../../api/client.ts'
import { queryClient } from '../../api/queries.ts'
import type { Decision, Item } from '../approval.ts'
import { formatAnswerEffects } from '../check.ts'
import type { Answer } from '../check.ts'
import { decide } from '../decision.ts'
import { readChecks } from '../queue.ts'
import { toast } from '../../shared/toast.ts'
import { classesQuery } from '../../agents/agent-queries.ts'
import { approvalQuery } from '../approval-queries.ts'

/** Sends the answer to one check and shows its side effects: new checks, and an opened or closed gate. */
export function useAnswer() {
  const [isBusy, setBusy] = useState(false)

  /** Reads are recorded, so cached data is used before the answer. */
  async function isGateOpen({ requester, domain, risk }: Item, staleTime: number) {
    const classes = await queryClient.fetchQuery({ ...classesQuery(requester, domain), staleTime })
    return classes.some((it) => it.risk === risk && it.level === 'autonomous')
  }

  /** Throws errors that the person can correct. */
  async function answer(item: Item, choice: Answer, decision: Decision): Promise<void> {
    setBusy(true)
    try {
      const wasOpen = await isGateOpen(item, Infinity)
      // An answer counts only if the item was opened since the daemon started, and it may have restarted.
      await queryClient.fetchQuery({ ...approvalQuery(item.id), staleTime: 0 })
      const [outcome] = await decide([item], decision)
      if (outcome?.error) throw new ApiError(outcome.error)
      if (!outcome || outcome.status === 'held') return
      if (outcome.look_back) void readChecks()
      const gate = { wasOpen, isOpen: await isGateOpen(item, 0) }
      const followed = formatAnswerEffects(choice, outcome, gate)
      if (followed !== undefined) toast(followed)
      // The consequences of other answers may have changed.
      await queryClient.invalidateQueries({ queryKey: ['approval'] })
    } finally {
      setBusy(false)
    }
  }

  return { answer, isBusy }
}
