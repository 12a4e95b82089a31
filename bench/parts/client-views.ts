// How four clients show tool definitions and results to their model, as `npm run proof sv19` drives them and as
// measured with Claude Code 2.1.325, Codex 0.166.0, Gemini CLI 0.61.0 and opencode 1.18.33.
import type { CallToolResult, Tool } from '@modelcontextprotocol/client'

export type ClientView = {
  readonly name: string
  /** Claude Code uses 2026-07-28, the others a protocol that starts with `initialize`. */
  readonly mode: 'auto' | 'legacy'
  /** The longest text that the client shows in full. */
  readonly maxChars: number
  /** The definitions before the first call, and those added when a tool is used. */
  readonly define: (tools: readonly Tool[], used: ReadonlySet<string>) => string
  readonly show: (result: CallToolResult) => string
}

const texts = ({ content }: CallToolResult): string[] =>
  content.flatMap((block) => (block.type === 'text' ? [block.text] : []))

/** Without output schema, title and annotations: none of the four passes them on. */
const definition = ({ name, description, inputSchema }: Tool) => ({
  name,
  description,
  parameters: inputSchema,
})
const definitions = (tools: readonly Tool[]) => JSON.stringify(tools.map(definition))

/** Gemini CLI adds this parameter to every tool. */
const waitForPrevious = {
  type: 'boolean',
  description:
    'Set to true to wait for all previously requested tools in this turn to complete before starting. Set to false (or omit) to run in parallel. Use true when this tool depends on the output of previous tools.',
}

export const clientViews: readonly ClientView[] = [
  {
    name: 'Claude Code',
    mode: 'auto',
    maxChars: 50_000,
    // Names only; the definition follows when the model searches for the tool.
    define: (tools, used) =>
      tools.map(({ name }) => `mcp__server__${name}\n`).join('') +
      definitions(tools.filter(({ name }) => used.has(name))),
    show: (result) =>
      result.structuredContent && !result.isError
        ? JSON.stringify(result.structuredContent)
        : texts(result).join('\n'),
  },
  {
    name: 'Codex',
    mode: 'legacy',
    maxChars: 48_000,
    define: (tools) =>
      JSON.stringify(
        tools.map((tool) => ({ type: 'function', strict: false, ...definition(tool) })),
      ),
    show: (result) =>
      `Wall time: 0.0015 seconds\nOutput:\n${
        result.structuredContent
          ? JSON.stringify(result.structuredContent)
          : texts(result).join('\n')
      }`,
  },
  {
    name: 'Gemini CLI',
    mode: 'legacy',
    maxChars: 40_000,
    define: (tools) =>
      JSON.stringify(
        tools.map(({ name, description, inputSchema }) => ({
          name: `mcp_server_${name}`,
          description,
          parametersJsonSchema: {
            ...inputSchema,
            properties: { ...inputSchema.properties, wait_for_previous: waitForPrevious },
          },
        })),
      ),
    show: (result) =>
      texts(result)
        .map((text) => `<untrusted_context>\n${text}\n</untrusted_context>`)
        .join('\n'),
  },
  {
    name: 'opencode',
    mode: 'legacy',
    maxChars: 51_200,
    define: definitions,
    show: (result) => texts(result).join('\n\n'),
  },
]
