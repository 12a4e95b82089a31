import type { Caller } from './caller.ts'

type Argument = {
  readonly name: string
  readonly description: string
  readonly required?: boolean
}

/**
 * A beginning that a person picks in their client, where it is a command of its own (SV13). A domain gives some; it
 * knows nothing of the door that asks.
 */
export type Prompt = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly arguments: readonly Argument[]
  /** What is said to the model then. It holds no more than this caller may see. */
  say(caller: Caller, given: Readonly<Record<string, string>>): Promise<string>
}
