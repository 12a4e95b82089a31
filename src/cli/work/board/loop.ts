import type { ReadStream, WriteStream } from 'node:tty'
import { CoworkError } from '#base/errors.ts'
import type { Client } from '../../client.ts'
import { exitCode, problemOf } from '../../exit.ts'
import type { ExitCode } from '../../exit.ts'
import { openScreen } from '../../inbox/screen.ts'
import { plain } from '../../plain.ts'
import { readStory } from '../asking.ts'
import { readBoard } from './read.ts'
import { reduce } from './reduce.ts'
import { startState } from './state.ts'
import type { Effect, Event, State } from './state.ts'
import { render } from './view.ts'

const refreshMs = 1000

export type BoardOptions = {
  readonly client: Client
  readonly start: Pick<State, 'project' | 'projects' | 'sprint'>
  readonly claim: { readonly agent?: string }
  readonly stdin: ReadStream
  readonly stdout: WriteStream
}

/** The board on a terminal: keys and answers into the machine, what it wants done out of it. */
export async function showBoard({
  client,
  start,
  claim,
  stdin,
  stdout,
}: BoardOptions): Promise<ExitCode> {
  const { promise, resolve, reject } = Promise.withResolvers<ExitCode>()
  const screen = openScreen(stdin, stdout, {
    onKey: (key) => happened({ event: 'key', key, now: Date.now() }),
    onResize: (size) => happened({ event: 'resized', size }),
    onEnd: () => resolve(exitCode.interrupted),
  })
  let state: State = startState(screen.size(), Date.now(), start)
  /** The newest entry about the project that the board knows of. */
  let seen = -1
  let isLoading = false
  let isWanted = false

  function happened(event: Event): void {
    const step = reduce(state, event)
    state = step.state
    screen.paint(render(state))
    for (const effect of step.effects) void done(effect).catch(reject)
  }

  async function done(effect: Effect): Promise<void> {
    switch (effect.act) {
      case 'leave':
        return resolve(effect.isInterrupted ? exitCode.interrupted : exitCode.ok)
      case 'look':
        return look()
      case 'load':
        return load()
      case 'read':
        return telling(async () => {
          const { story } = await readStory(client, state.project, effect.id)
          return { event: 'read', story }
        })
      case 'call':
        return telling(() => call(effect))
    }
  }

  /** What fails is said in the screen's own place. */
  async function telling(act: () => Promise<Event>): Promise<void> {
    try {
      happened(await act())
    } catch (error) {
      if (!(error instanceof CoworkError)) throw error
      const { message, hint = '' } = problemOf(error)
      happened({
        event: 'told',
        message: { text: plain(`${message} ${hint}`.trim()), tone: 'bad' },
      })
    }
  }

  /** The ledger tells whether anything happened. Reading it is no act; reading the plan would be one every second. */
  async function look(): Promise<void> {
    if (isLoading) return
    try {
      if ((await newest()) !== seen || !state.isLoaded || state.offline !== undefined) await load()
    } catch (error) {
      unreachable(error)
    }
  }

  const newest = async (): Promise<number> => {
    const { entries } = await client.get<{ entries: { seq: number }[] }>('/api/ledger', {
      type: 'work.',
      subject: state.project,
      newest: true,
      limit: 1,
    })
    return entries[0]?.seq ?? 0
  }

  async function load(): Promise<void> {
    isWanted = true
    if (isLoading) return
    isLoading = true
    try {
      while (isWanted) {
        isWanted = false
        const { project, sprint } = state
        // First: what comes while the plan is read is then seen as new.
        seen = await newest()
        const board = await readBoard(client, project, sprint)
        if (project === state.project && sprint === state.sprint)
          happened({ event: 'loaded', ...board })
        else isWanted = true
      }
    } catch (error) {
      unreachable(error)
    } finally {
      isLoading = false
    }
  }

  /** One that ends while people look may be back in a moment; one that never answered will not. */
  function unreachable(error: unknown): void {
    if (!state.isLoaded || !(error instanceof CoworkError)) throw error
    happened({ event: 'unreachable', message: problemOf(error).message })
  }

  async function call({ tool, args, text }: Extract<Effect, { act: 'call' }>): Promise<Event> {
    const { project } = state
    const answer = await client.call<{ story?: { id: string } }>(tool, {
      project,
      ...args,
      ...claim,
    })
    return { event: 'changed', text, ...(answer.story && { id: answer.story.id }) }
  }

  happened({ event: 'tick', now: Date.now() })
  const ticking = setInterval(() => happened({ event: 'tick', now: Date.now() }), refreshMs)
  try {
    return await promise
  } finally {
    clearInterval(ticking)
    screen.close()
  }
}
