import { usage } from './exit.ts'

/** A name that `cowork mcp --agent` will take: its token lies in a file that is called so (I13). */
export function agentName(given: string): string {
  if (/^[^./\\\0][^/\\\0]{0,127}$/.test(given)) return given
  throw usage(
    `${JSON.stringify(given)} cannot be the name of an agent with a token file.`,
    'Use 1 to 128 characters, without slashes and without a dot at the start.',
  )
}
