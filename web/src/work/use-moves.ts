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

/** Moving stories: the card is where it was put at once, and back again if the daemon refuses. */
export function useMoves(project: string) {
  const keyOf = (sprint: string) => boardQuery(project, sprint).queryKey

  const show = (sprint: string, id: string, change: Parameters<typeof replaceCard>[2]) =>
    queryClient.setQueryData(
      keyOf(sprint),
      (board) => board && { ...board, stories: replaceCard(board.stories, id, change) },
    )

  async function toStatus({ id, rev, sprint_id: sprint }: Movable, status: Status) {
    // What is being read would show it where it was.
    await queryClient.cancelQueries({ queryKey: keyOf(sprint) })
    show(sprint, id, { status })
    const args = { project, story_id: id, expect_rev: rev }
    try {
      const { story } = await (status === 'done'
        ? callWork<{ story: Card }>('worksync_done', args)
        : callWork<{ story: Card }>('worksync_update_story', { ...args, status }))
      // The next move is made from this revision; the rest comes by the stream.
      show(sprint, id, { status, rev: story.rev })
      toast(`${sanitizeText(id)}: ${statusNames[status].toLowerCase()}.`)
      return true
    } catch (error) {
      toastProblem(error)
      await queryClient.invalidateQueries({ queryKey: keyOf(sprint) })
      return false
    }
  }

  async function toSprint({ id, rev, sprint_id: from }: Movable, sprint: string) {
    try {
      await call('worksync_move', { project, story_id: id, sprint_id: sprint, expect_rev: rev })
      toast(`${sanitizeText(id)} is in ${sanitizeText(sprint)}.`)
    } catch (error) {
      toastProblem(error)
      await queryClient.invalidateQueries({ queryKey: keyOf(from) })
    }
  }

  return { toStatus, toSprint }
}
