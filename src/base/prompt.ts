import type { Caller } from './caller.ts'

type Argument = {
  readonly name: string
  readonly description: string
  readonly required?: boolean
}

/**
 * An MCP prompt, which a client offers as a command (SV13). Modules define prompts independently of the transport.
 */
export type Prompt = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly arguments: readonly Argument[]
  /** Returns the text for the model. It contains only what this caller may see. */
  render(caller: Caller, args: Readonly<Record<string, string>>): Promise<string>
}
