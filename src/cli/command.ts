import { InvalidArgumentError, Option } from 'commander'
import type { Command } from 'commander'
import type { ToolName, ToolResults } from '#wire'
import type { Client, MessageOverrides } from './client.ts'
import type { Context } from './context.ts'
import type { ExitCode } from './exit.ts'
import { sanitize } from './output.ts'
import { rejectUnknownCommand } from './usage.ts'

/** An option and what it gives: undefined is part of that unless it is required or has a default. */
export type Kind<Value> = Option & { readonly gives?: Value }

export type Options = Readonly<Record<string, Kind<unknown>>>

type Gives<One> = One extends { readonly gives?: infer Value } ? Value : never

/** What the options of a command give, by their names. */
export type Values<Given extends Options> = {
  readonly [Name in keyof Given as undefined extends Gives<Given[Name]> ? never : Name]: Gives<
    Given[Name]
  >
} & {
  readonly [Name in keyof Given as undefined extends Gives<Given[Name]> ? Name : never]?: Exclude<
    Gives<Given[Name]>,
    undefined
  >
}

export const text = (flags: string, about: string): Kind<string | undefined> =>
  new Option(flags, about)

export const flag = (flags: string, about?: string): Kind<boolean | undefined> =>
  new Option(flags, about)

export const list = (flags: string, about: string): Kind<readonly string[] | undefined> =>
  new Option(flags, about)

export const choice = <Word extends string>(
  flags: string,
  about: string,
  words: readonly Word[],
): Kind<Word | undefined> => new Option(flags, about).choices(words)

export const choices = <Word extends string>(
  flags: string,
  about: string,
  words: readonly Word[],
): Kind<readonly Word[] | undefined> => new Option(flags, about).choices(words)

export const parsePositiveInt = (flags: string, about: string): Kind<number | undefined> =>
  new Option(flags, about).argParser(toPositive)

export const whole = (flags: string, about: string): Kind<number | undefined> =>
  new Option(flags, about).argParser(toWhole)

/** Any number: the command says itself what is wrong with it. */
export const number = (flags: string, about: string): Kind<number | undefined> =>
  new Option(flags, about).argParser(Number)

export const repeated = (flags: string, about: string): Kind<readonly string[] | undefined> =>
  new Option(flags, about).argParser((one: string, before?: string[]) => [...(before ?? []), one])

export const required = <Value>(kind: Kind<Value>): Kind<NonNullable<Value>> =>
  kind.makeOptionMandatory() as Kind<NonNullable<Value>>

export const withDefault = <Value>(
  kind: Kind<Value>,
  value: NonNullable<Value>,
): Kind<NonNullable<Value>> => kind.default(value) as Kind<NonNullable<Value>>

export const linesOption = (lines: number): Kind<number> =>
  withDefault(parsePositiveInt('-n, --lines <count>', 'how many'), lines)

export const daysOption = (): Kind<number> =>
  withDefault(parsePositiveInt('--days <count>', 'how far back'), 30)

export const yes = (about = 'answer every question with yes'): Kind<boolean | undefined> =>
  flag('-y, --yes', about)

export const seconds = (): Kind<number> =>
  withDefault(whole('--timeout <seconds>', 'how long to wait'), 30)

export const globalOptions: readonly Option[] = [
  text('--config <file>', 'configuration file (default: cowork.yaml in the state folder)'),
  text('--state <folder>', 'state folder (default: COWORK_STATE_DIR, else ~/.cowork)'),
  flag('--json', 'print data as JSON'),
  repeated('--env-file <file>', 'read variables from a file; may repeat, the later wins'),
]

/** The choice of tools (SV18). */
export const toolOptions = {
  tools: text('--tools <names>', 'tools to list: toolsets, tools, core or all (default: core)'),
  exclude: text('--exclude <names>', 'toolsets and tools that it may not call'),
  readOnly: flag('--read-only', 'only tools that read, and those that ask a person'),
}

function toPositive(given: string): number {
  if (!/^[1-9]\d{0,6}$/.test(given)) throw new InvalidArgumentError('It is not a positive number.')
  return Number(given)
}

function toWhole(given: string): number {
  if (!isWhole(given)) throw new InvalidArgumentError('It is not a whole number.')
  return Number(given)
}

export const isWhole = (given: string): boolean => /^\d{1,15}$/.test(given)

/** Gives the exit code; that of another program may be any number. */
export type Act = (context: Context, command: Command) => Promise<number | void>

export type Entry = {
  /** Its name and arguments, such as `restore <path> [version]`. */
  readonly usage: string
  readonly summary: string
  readonly alias?: string
  readonly isDefault?: boolean
  readonly options?: Options
  readonly args?: Readonly<Record<string, ArgumentWords>>
  readonly help?: string
  readonly commands?: readonly Entry[]
  readonly act?: Act
}

type ArgumentWords = {
  readonly about: string
  readonly choices?: readonly string[]
  /** Completed, but not checked: the command finds out itself what a shorter word means. */
  readonly known?: readonly string[]
}

type Described<Usage extends string, Given extends Options> = Omit<Entry, 'act' | 'usage'> & {
  readonly usage: Usage
  readonly options?: Given
}

/** What was typed, in the order of the usage: `<id>` is a text, `[id]` may be absent, `<ids...>` are many. */
type Arguments<Usage extends string> = Usage extends `${infer Word} ${infer Rest}`
  ? [...Argument<Word>, ...Arguments<Rest>]
  : Argument<Usage>
type Argument<Word extends string> = Word extends `${string}...${string}`
  ? string[]
  : Word extends `<${string}`
    ? [string]
    : Word extends `[${string}`
      ? [string | undefined]
      : []

export type Call<Usage extends string = string, Given extends Options = Options> = Context & {
  readonly client: Client
  readonly command: Command
  readonly args: Arguments<Usage>
  readonly options: Values<Given> & { readonly json?: boolean }
  /** Refuses unless a person sits at this terminal (I10). */
  person(what: string): Promise<void>
}

type Answering<Called, Answer> = {
  /** What only a person at a terminal may do (I10). */
  readonly person?: string
  /** The hints of the daemon in the words of the command line. */
  readonly words?: MessageOverrides
  /** Options that contradict each other are refused before anything else. */
  readonly check?: (call: Called) => void
  /** What `--json` prints, where it is not all of the answer. */
  readonly json?: (answer: Answer, call: Called) => object
  /** What people read. One sentence is made plain here; lines are printed as they are. */
  readonly show: (answer: Answer, call: Called) => string | readonly string[]
  /** Next steps, printed beside the data. */
  readonly notes?: (answer: Answer, call: Called) => readonly string[]
  readonly exit?: (answer: Answer) => ExitCode
}

/** A command that asks the daemon and shows the answer. */
export function command<
  const Usage extends string,
  Answer extends object,
  const Given extends Options = Record<never, never>,
>(
  spec: Described<Usage, Given> &
    Answering<Call<Usage, Given>, Answer> & {
      readonly run: (call: Call<Usage, Given>) => Promise<Answer>
    },
): Entry {
  const { run, person, words, check, json, show, notes, exit, ...described } = spec
  return localCommand<Usage, Given>({
    ...(described as Described<Usage, Given>),
    ...(words && { words }),
    async act(call) {
      check?.(call)
      if (person !== undefined) await call.person(person)
      const answer = await run(call)
      call.out.data(json?.(answer, call) ?? answer, () => {
        const shown = show(answer, call)
        return typeof shown === 'string' ? [sanitize(shown)] : shown
      })
      for (const note of notes?.(answer, call) ?? []) call.out.note(note)
      return exit?.(answer)
    },
  })
}

/** A command that is one call of a tool. `cowork_use` answers as the tool that it calls. */
export function toolCommand<
  const Usage extends string,
  Name extends Exclude<ToolName, 'cowork_use'>,
  const Given extends Options = Record<never, never>,
>(
  spec: Described<Usage, Given> &
    Answering<Call<Usage, Given>, ToolResults[Name]> & {
      readonly tool: Name
      readonly input?: (call: Call<Usage, Given>) => object | Promise<object>
    },
): Entry {
  const { tool, input, ...rest } = spec
  return command<Usage, ToolResults[Name], Given>({
    ...rest,
    run: async (call) => call.client.call(tool, (await input?.(call)) ?? {}),
  })
}

export function localCommand<
  const Usage extends string,
  const Given extends Options = Record<never, never>,
>(
  spec: Described<Usage, Given> & {
    readonly words?: MessageOverrides
    readonly act: (call: Call<Usage, Given>) => Promise<number | void>
  },
): Entry {
  const { words, act, ...described } = spec
  return {
    ...described,
    async act(context, given) {
      // Loaded here: a command line that is wrong, or asks for help, needs neither.
      const { createClient } = await import('./client.ts')
      return act({
        ...context,
        client: createClient(context, words),
        command: given,
        args: given.args as Arguments<Usage>,
        options: given.optsWithGlobals(),
        person: async (what) =>
          (await import('./person.ts')).requirePersonAtTerminal(context, what),
      })
    },
  }
}

export function addCommands(
  parent: Command,
  entries: readonly Entry[],
  carryOut: (act: Act, command: Command) => Promise<void>,
): void {
  for (const entry of entries) {
    const { usage, summary, alias, isDefault = false, options = {}, args = {}, help, act } = entry
    const made = parent.command(usage, { isDefault }).description(summary)
    if (alias !== undefined) made.alias(alias)
    for (const option of Object.values(options)) made.addOption(option)
    for (const argument of made.registeredArguments) {
      const { about, choices, known } = args[argument.name()] ?? {}
      if (about !== undefined) argument.description = about
      if (choices) argument.choices(choices)
      if (known) argument.argChoices = [...known]
    }
    if (help !== undefined) made.addHelpText('after', `\n${help}`)
    if (act)
      made.action(() => {
        rejectUnknownCommand(made)
        return carryOut(act, made)
      })
    addCommands(made, entry.commands ?? [], carryOut)
  }
}
