import type { ReadStream, WriteStream } from 'node:tty'
import type { ToolResults } from '#wire'
import type { Client } from '../../client.ts'
import type { ExitCode } from '../../exit.ts'
import { readPages } from '../../lookup.ts'
import { openScreen } from '../../screen/terminal.ts'
import { readSprint, readStory } from '../requests.ts'
import type { SprintBrief, StoryBrief } from '../wire.ts'
import { reduce } from './reduce.ts'
import { initialState, defaultSprint } from './state.ts'
import type { Effect, Event, State } from './state.ts'
import { render } from './view.ts'

export type BoardRead = {
  readonly project: string
  readonly sprint: string | undefined
  readonly sprints: readonly SprintBrief[]
  readonly stories: readonly StoryBrief[]
  readonly isStale: boolean
}

/** Reads all sprints and the stories of the given or default one. */
export async function readBoard(
  client: Client,
  project: string,
  requestedSprint: string | undefined,
): Promise<BoardRead> {
  const query = { project, kind: 'sprint', limit: 1000 }
  const of = ({ results }: ToolResults['worksync_search']) => results as SprintBrief[]
  const { all: sprints, last } = await readPages(client, 'worksync_search', query, of)
  const sprint = requestedSprint ?? defaultSprint(sprints)
  const stories = sprint === undefined ? [] : (await readSprint(client, project, sprint)).stories
  return { project, sprint, sprints, stories, isStale: (last.stale ?? []).length > 0 }
}

export type BoardOptions = {
  readonly client: Client
  readonly start: Pick<State, 'project' | 'projects' | 'sprint'>
  readonly claim: { readonly agent?: string }
  readonly stdin: ReadStream
  readonly stdout: WriteStream
}

export async function showBoard({
  client,
  start,
  claim,
  stdin,
  stdout,
}: BoardOptions): Promise<ExitCode> {
  const screen = openScreen({
    stdin,
    stdout,
    start: (size, now) => initialState(size, now, start),
    reduce,
    render,
    perform,
  })
  /** The newest ledger entry of the project that the board has loaded. */
  let lastSeq = -1
  let isLoading = false
  let isReloadNeeded = false

  async function perform(effect: Effect): Promise<void> {
    switch (effect.act) {
      case 'leave':
        return screen.leave(effect.isInterrupted)
      case 'look':
        return poll()
      case 'load':
        return load()
      case 'read':
        return screen.dispatchResult(async () => {
          const { story } = await readStory(client, screen.state().project, effect.id)
          return { event: 'read', story }
        })
      case 'call':
        return screen.dispatchResult(() => call(effect))
    }
  }

  /**
   * Polls the ledger for changes. Reading the ledger is not recorded; reading the work index every
   * second would be.
   */
  async function poll(): Promise<void> {
    if (isLoading) return
    try {
      const hasChanged = (await readNewestSeq()) !== lastSeq
      const { isLoaded, offline } = screen.state()
      if (hasChanged || !isLoaded || offline !== undefined) await load()
    } catch (error) {
      screen.reportOutage(error)
    }
  }

  const readNewestSeq = async (): Promise<number> => {
    const { entries } = await client.get('/api/ledger', {
      type: 'work.',
      subject: screen.state().project,
      newest: true,
      limit: 1,
    })
    return entries[0]?.seq ?? 0
  }

  async function load(): Promise<void> {
    isReloadNeeded = true
    if (isLoading) return
    isLoading = true
    try {
      while (isReloadNeeded) {
        isReloadNeeded = false
        const { project, sprint } = screen.state()
        // Read first, so that a change during the load triggers another load.
        lastSeq = await readNewestSeq()
        const board = await readBoard(client, project, sprint)
        const now = screen.state()
        if (project === now.project && sprint === now.sprint)
          screen.dispatch({ event: 'loaded', ...board })
        else isReloadNeeded = true
      }
    } catch (error) {
      screen.reportOutage(error)
    } finally {
      isLoading = false
    }
  }

  async function call({ tool, args, text }: Extract<Effect, { act: 'call' }>): Promise<Event> {
    const { project } = screen.state()
    const answer = await client.call(tool, {
      project,
      ...args,
      ...claim,
    })
    return { event: 'changed', text, ...('story' in answer && { id: answer.story.id }) }
  }

  return screen.run()
}
