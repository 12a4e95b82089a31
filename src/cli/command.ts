import type { Command } from 'commander'
import type { ToolName, ToolResults } from '#wire'
import type { Client, Words } from './client.ts'
import type { Context } from './context.ts'
import type { ExitCode } from './exit.ts'
import type { Options, Values } from './option-kinds.ts'
import { plain } from './plain.ts'
import { refuseUnknown } from './usage-help.ts'

/** Gives the exit code; that of another program may be any number. */
export type Act = (context: Context, command: Command) => Promise<number | void>

/** One row of the table of commands. */
export type Entry = {
  /** Its name and arguments, such as `restore <path> [version]`. */
  readonly usage: string
  readonly summary: string
  readonly alias?: string
  readonly isDefault?: boolean
  readonly options?: Options
  readonly args?: Readonly<Record<string, ArgumentWords>>
  /** Printed below the help. */
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

/** What a command works with. */
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
  readonly words?: Words
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
        return typeof shown === 'string' ? [plain(shown)] : shown
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

/** A command that does its work itself. */
export function localCommand<
  const Usage extends string,
  const Given extends Options = Record<never, never>,
>(
  spec: Described<Usage, Given> & {
    readonly words?: Words
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
        person: async (what) => (await import('./person.ts')).requirePersonHere(context, what),
      })
    },
  }
}

/** Builds the commands of commander from the table. */
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
        refuseUnknown(made)
        return carryOut(act, made)
      })
    addCommands(made, entry.commands ?? [], carryOut)
  }
}
