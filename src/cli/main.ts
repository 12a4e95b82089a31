import { parseArgs } from 'node:util'
import { exitOnBrokenPipe } from './output.ts'

exitOnBrokenPipe()
process.exitCode = await main(process.argv.slice(2))

/** A client waits for the bridge at every start: it must not load the whole command line first (N13). */
async function main(args: readonly string[]): Promise<number> {
  const isStdio = process.env['TRANSPORT']?.toLowerCase() === 'stdio'
  const bridge = bridgeOptions(args[0] === undefined && isStdio ? ['mcp'] : args)
  if (bridge) return (await import('./mcp.ts')).run(bridge)
  return (await import('./program.ts')).run(args)
}

/** What `cowork mcp` was given; nothing when this is another command, or asks for help. */
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
    // The whole command line says what is wrong.
    if (values.results !== undefined && values.results !== 'structured') return undefined
    return { ...values, envFile: values['env-file'], readOnly: values['read-only'] }
  } catch {
    return undefined
  }
}
