import { delimiter, dirname } from 'node:path'
import { saveToken, obtainToken, planToken } from './agent-plan.ts'
import { createClient } from './client.ts'
import type { Context } from './context.ts'
import { launcherPath, locationOptions } from './launcher.ts'
import { runInherited } from './run-command.ts'

/** Pinned, so that nobody's newer upload runs with a token of ours. */
const inspector = '@modelcontextprotocol/inspector@2.12.0'
const agent = 'inspector'

/** Opens the official MCP Inspector on this daemon (K9). It speaks by stdio, so no token is in its arguments. */
export async function inspect(
  context: Context,
  { print = false }: { readonly print?: boolean },
): Promise<number | void> {
  const { paths, out, env } = context
  const words = inspectCommand(context)
  if (print) return out.data({ command: words }, () => [words.join(' ')])
  const api = createClient(context)
  const { auth } = await api.call('cowork_status')
  // An open door needs no token, and the first agent would close it.
  if (auth === 'closed') {
    const plan = await planToken(api, paths, agent)
    saveToken(paths, agent, await obtainToken(api, plan))
    if (plan.act !== 'keep') out.note(`The Inspector acts as the agent ${agent}.`)
  }
  const [command = '', ...args] = words
  // The Inspector needs a newer Node than many machines have: ours.
  const path = [dirname(process.execPath), env['PATH']].filter(Boolean).join(delimiter)
  return runInherited(command, args, { ...env, PATH: path })
}

export const inspectCommand = (
  place: Pick<Context, 'paths' | 'locationArgs'>,
): readonly string[] => [
  'npx',
  '--yes',
  inspector,
  '--web',
  '--',
  process.execPath,
  launcherPath(),
  'mcp',
  '--agent',
  agent,
  // The Inspector is for looking at every tool.
  '--tools',
  'all',
  ...locationOptions(place),
]
