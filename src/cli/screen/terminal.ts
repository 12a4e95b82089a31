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

// Alternate screen, hidden cursor, no line wrap, bracketed paste.
const enter = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[?2004h\u001b[2J'
const leave = '\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?1049l'
/** Synchronized update, which prevents flicker in terminals that support it. */
const synchronizedUpdate = (frame: string) => `\u001b[?2026h\u001b[H${frame}\u001b[J\u001b[?2026l`
const clearRest = '\u001b[K'

/** Time to decide whether Esc is a key or starts an escape sequence. */
const escapeMs = 50

type TerminalEvents = {
  readonly onKey: (key: Key) => void
  readonly onResize: (size: Size) => void
  /** A signal arrived, or the terminal was closed. */
  readonly onEnd: () => void
}

/** Controls the terminal for a screen, and restores it however the process ends. */
function openTerminal(stdin: ReadStream, stdout: WriteStream, events: TerminalEvents) {
  let isActive = false
  let isClosed = false
  let last = ''
  const size = (): Size => ({ rows: stdout.rows, columns: stdout.columns })
  const onKeypress = (text: string | undefined, key: Keypress) => {
    const known = toKey(text, key)
    if (known) events.onKey(known)
  }
  const onResize = () => {
    last = ''
    if (isActive) events.onResize(size())
  }
  // Ctrl-C in an editor that uses the terminal is for the editor.
  const onSignal = (name: NodeJS.Signals) => {
    if (isActive || name !== 'SIGINT') events.onEnd()
  }
  const decoder = createInterface({ input: new PassThrough(), escapeCodeTimeout: escapeMs })
  emitKeypressEvents(stdin, decoder)

  function acquire(): void {
    if (isClosed) return
    isActive = true
    last = ''
    stdout.write(enter)
    stdin.setRawMode(true)
    stdin.on('keypress', onKeypress)
    stdin.resume()
  }

  function release(): void {
    if (!isActive) return
    isActive = false
    stdin.off('keypress', onKeypress)
    stdin.setRawMode(false)
    stdin.pause()
    stdout.write(leave)
  }

  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  // Restores the terminal before a crash prints its error.
  const endings = ['exit', 'uncaughtExceptionMonitor'] as const
  for (const name of signals) process.on(name, onSignal)
  for (const name of endings) process.on(name, release)
  stdout.on('resize', onResize)
  stdin.on('end', events.onEnd)
  acquire()

  return {
    size,
    paint(lines: readonly Line[]): void {
      if (!isActive) return
      const frame = lines.map((line) => renderLine(line, stdout) + clearRest).join('\r\n')
      if (frame !== last) stdout.write(synchronizedUpdate(frame))
      last = frame
    },
    /** Gives the terminal to another program while it runs. */
    async lend<Result>(borrow: () => Promise<Result>): Promise<Result> {
      release()
      try {
        return await borrow()
      } finally {
        acquire()
      }
    },
    close(): void {
      isClosed = true
      release()
      decoder.close()
      for (const name of signals) process.off(name, onSignal)
      for (const name of endings) process.off(name, release)
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

/** Normalizes a key press; a letter with Ctrl or Alt is not that letter. */
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
  /** Performs an effect. An unhandled failure closes the screen. */
  readonly perform: (effect: Effect) => Promise<void>
}

/** Runs a state machine on a terminal: dispatches keys and results, renders the state, performs the effects. */
export function openScreen<State extends { readonly isLoaded: boolean }, Event, Effect>(
  machine: Machine<State, Event, Effect>,
) {
  const { stdin, stdout, start, reduce, render, perform } = machine
  const { promise, resolve, reject } = Promise.withResolvers<ExitCode>()
  const terminal = openTerminal(stdin, stdout, {
    onKey: (key) => dispatch({ event: 'key', key, now: Date.now() }),
    onResize: (size) => dispatch({ event: 'resized', size }),
    onEnd: () => resolve(exitCode.interrupted),
  })
  let state = start(terminal.size(), Date.now())

  function dispatch(event: Event | ScreenEvent): void {
    const step = reduce(state, event)
    state = step.state
    terminal.paint(render(state))
    for (const effect of step.effects) void perform(effect).catch(reject)
  }

  return {
    state: () => state,
    dispatch,
    lend: terminal.lend,
    leave: (isInterrupted: boolean) => resolve(isInterrupted ? exitCode.interrupted : exitCode.ok),
    /** Dispatches the result; shows an error as a message. */
    async dispatchResult(action: () => Promise<Event | ScreenEvent>): Promise<void> {
      try {
        dispatch(await action())
      } catch (error) {
        if (!(error instanceof CoworkError)) throw error
        const { message, hint = '' } = toProblem(error)
        const text = sanitize(`${message} ${hint}`.trim())
        dispatch({ event: 'message', message: { text, tone: 'bad' } })
      }
    },
    /** Shows an outage after the first load: the daemon may be restarting. Before it, the error ends the screen. */
    reportOutage(error: unknown): void {
      if (!state.isLoaded || !(error instanceof CoworkError)) throw error
      dispatch({ event: 'unreachable', message: toProblem(error).message })
    },
    async run(): Promise<ExitCode> {
      const tick = () => dispatch({ event: 'tick', now: Date.now() })
      tick()
      const timer = setInterval(tick, refreshMs)
      try {
        return await promise
      } finally {
        clearInterval(timer)
        terminal.close()
      }
    },
  }
}
