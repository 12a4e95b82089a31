import { useState } from 'react'
import { ApiError } from '../../api/client.ts'
import { queryClient } from '../../api/queries.ts'
import type { Decision, Item } from '../approval.ts'
import { answeredText } from '../check.ts'
import type { Answer } from '../check.ts'
import { decide } from '../decision.ts'
import { readChecks } from '../queue.ts'
import { toast } from '../../shared/toast.ts'
import { classesQuery } from '../../agents/agent-queries.ts'
import { approvalQuery } from '../approval-queries.ts'

/** Sends the answer to one check and says what followed: what else came, and whether the gate opened or closed. */
export function useAnswer() {
  const [isBusy, setBusy] = useState(false)

  /** Looking is recorded, so what is known already is not read again before the answer. */
  async function isGateOpen({ requester, domain, risk }: Item, staleTime: number) {
    const classes = await queryClient.fetchQuery({ ...classesQuery(requester, domain), staleTime })
    return classes.some((it) => it.risk === risk && it.level === 'autonomous')
  }

  /** Throws what the person can correct. */
  async function answer(item: Item, given: Answer, decision: Decision): Promise<void> {
    setBusy(true)
    try {
      const wasOpen = await isGateOpen(item, Infinity)
      // The daemon counts what was opened since it started: it may have been restarted meanwhile.
      await queryClient.fetchQuery({ ...approvalQuery(item.id), staleTime: 0 })
      const [outcome] = await decide([item], decision)
      if (outcome?.error) throw new ApiError(outcome.error)
      if (!outcome || outcome.status === 'held') return
      if (outcome.look_back) void readChecks()
      const gate = { wasOpen, isOpen: await isGateOpen(item, 0) }
      const followed = answeredText(given, outcome, gate)
      if (followed !== undefined) toast(followed)
      // What the other answers lead to has changed with it.
      await queryClient.invalidateQueries({ queryKey: ['approval'] })
    } finally {
      setBusy(false)
    }
  }

  return { answer, isBusy }
}
