import { call } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { callWork, boardQuery } from './work-queries.ts'
import { sanitizeText } from '../shared/sanitize.ts'
import { toast, toastProblem } from '../shared/toast.ts'
import { replaceCard } from './board.ts'
import { statusNames } from './text.ts'
import type { Card, Status } from './work.ts'

type Movable = Pick<Card, 'id' | 'rev' | 'sprint_id'>
export type Moves = ReturnType<typeof useMoves>

/** Moves stories with an optimistic update, which is reverted if the daemon refuses. */
export function useMoves(project: string) {
  const getBoardKey = (sprint: string) => boardQuery(project, sprint).queryKey

  const updateCard = (sprint: string, id: string, change: Parameters<typeof replaceCard>[2]) =>
    queryClient.setQueryData(
      getBoardKey(sprint),
      (board) => board && { ...board, stories: replaceCard(board.stories, id, change) },
    )

  async function toStatus({ id, rev, sprint_id: sprint }: Movable, status: Status) {
    // A running query would revert the optimistic update.
    await queryClient.cancelQueries({ queryKey: getBoardKey(sprint) })
    updateCard(sprint, id, { status })
    const args = { project, story_id: id, expect_rev: rev }
    try {
      const { story } = await (status === 'done'
        ? callWork<{ story: Card }>('worksync_done', args)
        : callWork<{ story: Card }>('worksync_update_story', { ...args, status }))
      // The next move needs this revision; other fields arrive over the stream.
      updateCard(sprint, id, { status, rev: story.rev })
      toast(`Moved ${sanitizeText(id)} to ${statusNames[status].toLowerCase()}.`)
      return true
    } catch (error) {
      toastProblem(error)
      await queryClient.invalidateQueries({ queryKey: getBoardKey(sprint) })
      return false
    }
  }

  async function toSprint({ id, rev, sprint_id: from }: Movable, sprint: string) {
    try {
      await call('worksync_move', { project, story_id: id, sprint_id: sprint, expect_rev: rev })
      toast(`Moved ${sanitizeText(id)} to ${sanitizeText(sprint)}.`)
    } catch (error) {
      toastProblem(error)
      await queryClient.invalidateQueries({ queryKey: getBoardKey(from) })
    }
  }

  return { toStatus, toSprint }
}
