import { InvalidArgumentError, Option } from 'commander'
import type { Command } from 'commander'
import type { ToolName, ToolResults } from '#wire'
import type { Client, MessageOverrides } from './client.ts'
import type { Context } from './context.ts'
import type { ExitCode } from './exit.ts'
import { sanitize } from './output.ts'
import { rejectUnknownCommand } from './usage.ts'

/** An option with the type of its value: undefined unless it is required or has a default. */
export type TypedOption<Value> = Option & { readonly valueType?: Value }

export type Options = Readonly<Record<string, TypedOption<unknown>>>

type OptionValue<Opt> = Opt extends { readonly valueType?: infer Value } ? Value : never

/** Option values by option name. */
export type Values<Given extends Options> = {
  readonly [
    Name in keyof Given as undefined extends OptionValue<Given[Name]> ? never : Name
  ]: OptionValue<Given[Name]>
} & {
  readonly [
    Name in keyof Given as undefined extends OptionValue<Given[Name]> ? Name : never
  ]?: Exclude<OptionValue<Given[Name]>, undefined>
}

export const text = (flags: string, about: string): TypedOption<string | undefined> =>
  new Option(flags, about)

export const flag = (flags: string, about?: string): TypedOption<boolean | undefined> =>
  new Option(flags, about)

export const list = (flags: string, about: string): TypedOption<readonly string[] | undefined> =>
  new Option(flags, about)

export const choice = <Word extends string>(
  flags: string,
  about: string,
  words: readonly Word[],
): TypedOption<Word | undefined> => new Option(flags, about).choices(words)

export const choices = <Word extends string>(
  flags: string,
  about: string,
  words: readonly Word[],
): TypedOption<readonly Word[] | undefined> => new Option(flags, about).choices(words)

export const parsePositiveInt = (flags: string, about: string): TypedOption<number | undefined> =>
  new Option(flags, about).argParser(toPositive)

export const integer = (flags: string, about: string): TypedOption<number | undefined> =>
  new Option(flags, about).argParser(toInteger)

/** Accepts any number: the command validates it. */
export const number = (flags: string, about: string): TypedOption<number | undefined> =>
  new Option(flags, about).argParser(Number)

export const repeated = (
  flags: string,
  about: string,
): TypedOption<readonly string[] | undefined> =>
  new Option(flags, about).argParser((value: string, previous?: string[]) => [
    ...(previous ?? []),
    value,
  ])

export const required = <Value>(kind: TypedOption<Value>): TypedOption<NonNullable<Value>> =>
  kind.makeOptionMandatory() as TypedOption<NonNullable<Value>>

export const withDefault = <Value>(
  kind: TypedOption<Value>,
  value: NonNullable<Value>,
): TypedOption<NonNullable<Value>> => kind.default(value) as TypedOption<NonNullable<Value>>

export const linesOption = (lines: number): TypedOption<number> =>
  withDefault(parsePositiveInt('-n, --lines <count>', 'number of rows to show'), lines)

export const daysOption = (): TypedOption<number> =>
  withDefault(parsePositiveInt('--days <count>', 'number of days to cover'), 30)

export const yesOption = (about = 'answer yes to all prompts'): TypedOption<boolean | undefined> =>
  flag('-y, --yes', about)

export const timeoutOption = (): TypedOption<number> =>
  withDefault(integer('--timeout <seconds>', 'seconds to wait'), 30)

export const globalOptions: readonly Option[] = [
  text('--config <file>', 'configuration file (default: cowork.yaml in the state directory)'),
  text('--state <folder>', 'state directory (default: COWORK_STATE_DIR, else ~/.cowork)'),
  flag('--json', 'print JSON'),
  repeated('--env-file <file>', 'read variables from a file (repeatable; the last one wins)'),
]

/** Options that select tools (SV18). */
export const toolOptions = {
  tools: text('--tools <names>', 'list these toolsets or tools, core or all (default: core)'),
  exclude: text('--exclude <names>', 'block these toolsets and tools'),
  readOnly: flag('--read-only', 'list only tools that read or request access'),
}

function toPositive(value: string): number {
  if (!/^[1-9]\d{0,6}$/.test(value)) throw new InvalidArgumentError('Use a positive integer.')
  return Number(value)
}

function toInteger(value: string): number {
  if (!isInteger(value)) throw new InvalidArgumentError('Use an integer.')
  return Number(value)
}

export const isInteger = (value: string): boolean => /^\d{1,15}$/.test(value)

/** Returns the exit code; `cowork run` returns the code of the other program. */
export type CommandAction = (context: Context, command: Command) => Promise<number | void>

export type CommandSpec = {
  /** Name and arguments, such as `restore <path> [version]`. */
  readonly usage: string
  readonly summary: string
  readonly alias?: string
  readonly isDefault?: boolean
  readonly options?: Options
  readonly args?: Readonly<Record<string, ArgumentSpec>>
  readonly help?: string
  readonly commands?: readonly CommandSpec[]
  readonly act?: CommandAction
}

type ArgumentSpec = {
  readonly about: string
  readonly choices?: readonly string[]
  /** Completed, but not checked: the command resolves shorter forms. */
  readonly known?: readonly string[]
}

type SpecFields<Usage extends string, Given extends Options> = Omit<
  CommandSpec,
  'act' | 'usage'
> & {
  readonly usage: Usage
  readonly options?: Given
}

/** Arguments by their usage: `<id>` is a string, `[id]` may be absent, `<ids...>` is an array. */
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

type ResultOptions<Called, Answer> = {
  /** Action that only a person at a terminal may perform (I10). */
  readonly person?: string
  /** Command-line texts that replace messages and hints of the daemon. */
  readonly messages?: MessageOverrides
  /** Refuses contradicting options before anything else. */
  readonly check?: (call: Called) => void
  /** Selects the JSON output; without it, `--json` prints the whole result. */
  readonly json?: (answer: Answer, call: Called) => object
  /** Formats the result for people. A string is sanitized here; lines are printed as they are. */
  readonly show: (answer: Answer, call: Called) => string | readonly string[]
  /** Next steps, printed to stderr. */
  readonly notes?: (answer: Answer, call: Called) => readonly string[]
  readonly exit?: (answer: Answer) => ExitCode
}

/** Defines a command that queries the daemon and prints the result. */
export function command<
  const Usage extends string,
  Answer extends object,
  const Given extends Options = Record<never, never>,
>(
  spec: SpecFields<Usage, Given> &
    ResultOptions<Call<Usage, Given>, Answer> & {
      readonly run: (call: Call<Usage, Given>) => Promise<Answer>
    },
): CommandSpec {
  const { run, person, messages, check, json, show, notes, exit, ...described } = spec
  return localCommand<Usage, Given>({
    ...(described as SpecFields<Usage, Given>),
    ...(messages && { messages }),
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

/** Defines a command that calls one tool. `cowork_use` returns the result of the tool that it calls. */
export function toolCommand<
  const Usage extends string,
  Name extends Exclude<ToolName, 'cowork_use'>,
  const Given extends Options = Record<never, never>,
>(
  spec: SpecFields<Usage, Given> &
    ResultOptions<Call<Usage, Given>, ToolResults[Name]> & {
      readonly tool: Name
      readonly input?: (call: Call<Usage, Given>) => object | Promise<object>
    },
): CommandSpec {
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
  spec: SpecFields<Usage, Given> & {
    readonly messages?: MessageOverrides
    readonly act: (call: Call<Usage, Given>) => Promise<number | void>
  },
): CommandSpec {
  const { messages, act, ...described } = spec
  return {
    ...described,
    async act(context, command) {
      // Loaded here: help and usage errors need neither.
      const { createClient } = await import('./client.ts')
      return act({
        ...context,
        client: createClient(context, messages),
        command: command,
        args: command.args as Arguments<Usage>,
        options: command.optsWithGlobals(),
        person: async (what) =>
          (await import('./person.ts')).requirePersonAtTerminal(context, what),
      })
    },
  }
}

export function addCommands(
  parent: Command,
  entries: readonly CommandSpec[],
  runAction: (act: CommandAction, command: Command) => Promise<void>,
): void {
  for (const entry of entries) {
    const { usage, summary, alias, isDefault = false, options = {}, args = {}, help, act } = entry
    const command = parent.command(usage, { isDefault }).description(summary)
    if (alias !== undefined) command.alias(alias)
    for (const option of Object.values(options)) command.addOption(option)
    for (const argument of command.registeredArguments) {
      const { about, choices, known } = args[argument.name()] ?? {}
      if (about !== undefined) argument.description = about
      if (choices) argument.choices(choices)
      if (known) argument.argChoices = [...known]
    }
    if (help !== undefined) command.addHelpText('after', `\n${help}`)
    if (act)
      command.action(() => {
        rejectUnknownCommand(command)
        return runAction(act, command)
      })
    addCommands(command, entry.commands ?? [], runAction)
  }
}
