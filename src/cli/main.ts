import { parseArgs } from 'node:util'
import { exitOnBrokenPipe } from './output.ts'

exitOnBrokenPipe()
process.exitCode = await main(process.argv.slice(2))

/** Starts the bridge without the command line: a client waits for it at every start (N13). */
async function main(args: readonly string[]): Promise<number> {
  const isStdio = process.env['TRANSPORT']?.toLowerCase() === 'stdio'
  const bridge = bridgeOptions(args[0] === undefined && isStdio ? ['mcp'] : args)
  if (bridge) return (await import('./mcp.ts')).run(bridge)
  return (await import('./program.ts')).run(args)
}

/** Returns the options of `cowork mcp`, or undefined for another command or a help request. */
function bridgeOptions([command, ...args]: readonly string[]) {
  if (command !== 'mcp') return undefined
  try {
    const { values } = parseArgs({
      args,
      options: {
        agent: { type: 'string' },
        tools: { type: 'string' },
        exclude: { type: 'string' },
        'read-only': { type: 'boolean' },
        results: { type: 'string' },
        state: { type: 'string' },
        config: { type: 'string' },
        'env-file': { type: 'string', multiple: true },
      },
    })
    // The command line reports the invalid value.
    if (values.results !== undefined && values.results !== 'structured') return undefined
    return { ...values, envFile: values['env-file'], readOnly: values['read-only'] }
  } catch {
    return undefined
  }
}
