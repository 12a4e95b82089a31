import { createInterface, emitKeypressEvents } from 'node:readline'
import { PassThrough } from 'node:stream'
import type { ReadStream, WriteStream } from 'node:tty'
import { CoworkError } from '#base/errors.ts'
import { exitCode, toProblem } from '../exit.ts'
import type { ExitCode } from '../exit.ts'
import { renderLine } from '../inbox/lines.ts'
import type { Line } from '../inbox/lines.ts'
import { sanitize } from '../output.ts'
import type { Key, ScreenEvent, Size, Step } from './keys.ts'

// The other screen, no cursor, no wrapping at the edge, and pasted text told apart from typed.
const enter = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[?2004h\u001b[2J'
const leave = '\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?1049l'
/** Shown at once by terminals that know how, so that nothing flickers. */
const inOneGo = (frame: string) => `\u001b[?2026h\u001b[H${frame}\u001b[J\u001b[?2026l`
const restOfLine = '\u001b[K'

/** How long to wait whether an Esc is a key or the start of one. */
const escapeMs = 50

type TerminalEvents = {
  readonly onKey: (key: Key) => void
  readonly onResize: (size: Size) => void
  /** Somebody ends us, or the terminal is gone. */
  readonly onEnd: () => void
}

/** The terminal while a screen has it. However we end, it is given back as it was. */
function openTerminal(stdin: ReadStream, stdout: WriteStream, events: TerminalEvents) {
  let isOurs = false
  let isClosed = false
  let last = ''
  const size = (): Size => ({ rows: stdout.rows, columns: stdout.columns })
  const onKeypress = (text: string | undefined, key: Keypress) => {
    const known = toKey(text, key)
    if (known) events.onKey(known)
  }
  const onResize = () => {
    last = ''
    if (isOurs) events.onResize(size())
  }
  // Ctrl-C in an editor that has the terminal is meant for the editor.
  const onSignal = (name: NodeJS.Signals) => {
    if (isOurs || name !== 'SIGINT') events.onEnd()
  }
  const decoder = createInterface({ input: new PassThrough(), escapeCodeTimeout: escapeMs })
  emitKeypressEvents(stdin, decoder)

  function take(): void {
    if (isClosed) return
    isOurs = true
    last = ''
    stdout.write(enter)
    stdin.setRawMode(true)
    stdin.on('keypress', onKeypress)
    stdin.resume()
  }

  function give(): void {
    if (!isOurs) return
    isOurs = false
    stdin.off('keypress', onKeypress)
    stdin.setRawMode(false)
    stdin.pause()
    stdout.write(leave)
  }

  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  // A crash says what it was on the screen that stays.
  const endings = ['exit', 'uncaughtExceptionMonitor'] as const
  for (const name of signals) process.on(name, onSignal)
  for (const name of endings) process.on(name, give)
  stdout.on('resize', onResize)
  stdin.on('end', events.onEnd)
  take()

  return {
    size,
    paint(lines: readonly Line[]): void {
      if (!isOurs) return
      const frame = lines.map((line) => renderLine(line, stdout) + restOfLine).join('\r\n')
      if (frame !== last) stdout.write(inOneGo(frame))
      last = frame
    },
    /** Another program has the terminal meanwhile. */
    async lend<Result>(borrow: () => Promise<Result>): Promise<Result> {
      give()
      try {
        return await borrow()
      } finally {
        take()
      }
    },
    close(): void {
      isClosed = true
      give()
      decoder.close()
      for (const name of signals) process.off(name, onSignal)
      for (const name of endings) process.off(name, give)
      stdout.off('resize', onResize)
      stdin.off('end', events.onEnd)
    },
  }
}

type Keypress = {
  readonly name?: string | undefined
  readonly ctrl?: boolean
  readonly meta?: boolean
}

const named =
  /^(up|down|left|right|pageup|pagedown|home|end|escape|backspace|paste-start|paste-end)$/

/** One key as the screen knows it; a letter with Ctrl or Alt is not that letter. */
export function toKey(text: string | undefined, { name, ctrl, meta }: Keypress): Key | undefined {
  if (name !== undefined && named.test(name)) return { name }
  if (ctrl) return { name: `ctrl-${name ?? ''}` }
  if (meta) return undefined
  if (name === 'return' || name === 'enter') return { name: 'enter' }
  if (name === 'space') return { name, text: ' ' }
  return text === undefined || /\p{Cc}/u.test(text) ? undefined : { name: text, text }
}

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
        const { message, hint = '' } = toProblem(error)
        const text = sanitize(`${message} ${hint}`.trim())
        happened({ event: 'told', message: { text, tone: 'bad' } })
      }
    },
    /** A daemon that ends while people look may be back in a moment; one that never answered will not. */
    unreachable(error: unknown): void {
      if (!state.isLoaded || !(error instanceof CoworkError)) throw error
      happened({ event: 'unreachable', message: toProblem(error).message })
    },
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
