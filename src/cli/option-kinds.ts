import { InvalidArgumentError, Option } from 'commander'

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

export const positive = (flags: string, about: string): Kind<number | undefined> =>
  new Option(flags, about).argParser(toPositive)

export const whole = (flags: string, about: string): Kind<number | undefined> =>
  new Option(flags, about).argParser(toWhole)

/** Any number: the command says itself what is wrong with it. */
export const number = (flags: string, about: string): Kind<number | undefined> =>
  new Option(flags, about).argParser(Number)

/** May be given more than once. */
export const repeated = (flags: string, about: string): Kind<readonly string[] | undefined> =>
  new Option(flags, about).argParser((one: string, before?: string[]) => [...(before ?? []), one])

export const required = <Value>(kind: Kind<Value>): Kind<NonNullable<Value>> =>
  kind.makeOptionMandatory() as Kind<NonNullable<Value>>

export const withDefault = <Value>(
  kind: Kind<Value>,
  value: NonNullable<Value>,
): Kind<NonNullable<Value>> => kind.default(value) as Kind<NonNullable<Value>>

/** Options that several commands take. */

export const count = (lines: number): Kind<number> =>
  withDefault(positive('-n, --lines <count>', 'how many'), lines)

export const days = (): Kind<number> => withDefault(positive('--days <count>', 'how far back'), 30)

export const yes = (about = 'answer every question with yes'): Kind<boolean | undefined> =>
  flag('-y, --yes', about)

export const seconds = (): Kind<number> =>
  withDefault(whole('--timeout <seconds>', 'how long to wait'), 30)

/** For every command. */
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
