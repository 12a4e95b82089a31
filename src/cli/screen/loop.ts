import type { ReadStream, WriteStream } from 'node:tty'
import { CoworkError } from '#base/errors.ts'
import { exitCode, problemOf } from '../exit.ts'
import type { ExitCode } from '../exit.ts'
import type { Line } from '../inbox/lines.ts'
import { plain } from '../plain.ts'
import type { ScreenEvent, Size, Step } from './model.ts'
import { openTerminal } from './terminal.ts'

const refreshMs = 1000

type Machine<State, Event, Effect> = {
  readonly stdin: ReadStream
  readonly stdout: WriteStream
  readonly start: (size: Size, now: number) => State
  readonly reduce: (state: State, event: Event | ScreenEvent) => Step<State, Effect>
  readonly render: (state: State) => readonly Line[]
  /** What it wants done. A failure that is not told ends the screen. */
  readonly perform: (effect: Effect) => Promise<void>
}

/** A pure machine on a terminal: keys and answers into it, what it wants done out of it. */
export function openScreen<State extends { readonly isLoaded: boolean }, Event, Effect>(
  machine: Machine<State, Event, Effect>,
) {
  const { stdin, stdout, start, reduce, render, perform } = machine
  const { promise, resolve, reject } = Promise.withResolvers<ExitCode>()
  const terminal = openTerminal(stdin, stdout, {
    onKey: (key) => happened({ event: 'key', key, now: Date.now() }),
    onResize: (size) => happened({ event: 'resized', size }),
    onEnd: () => resolve(exitCode.interrupted),
  })
  let state = start(terminal.size(), Date.now())

  function happened(event: Event | ScreenEvent): void {
    const step = reduce(state, event)
    state = step.state
    terminal.paint(render(state))
    for (const effect of step.effects) void perform(effect).catch(reject)
  }

  return {
    state: () => state,
    happened,
    lend: terminal.lend,
    leave: (isInterrupted: boolean) => resolve(isInterrupted ? exitCode.interrupted : exitCode.ok),
    /** What fails is said in the screen's own place. */
    async telling(act: () => Promise<Event | ScreenEvent>): Promise<void> {
      try {
        happened(await act())
      } catch (error) {
        if (!(error instanceof CoworkError)) throw error
        const { message, hint = '' } = problemOf(error)
        const text = plain(`${message} ${hint}`.trim())
        happened({ event: 'told', message: { text, tone: 'bad' } })
      }
    },
    /** A daemon that ends while people look may be back in a moment; one that never answered will not. */
    unreachable(error: unknown): void {
      if (!state.isLoaded || !(error instanceof CoworkError)) throw error
      happened({ event: 'unreachable', message: problemOf(error).message })
    },
    /** Until the person leaves. */
    async run(): Promise<ExitCode> {
      const tick = () => happened({ event: 'tick', now: Date.now() })
      tick()
      const ticking = setInterval(tick, refreshMs)
      try {
        return await promise
      } finally {
        clearInterval(ticking)
        terminal.close()
      }
    },
  }
}
