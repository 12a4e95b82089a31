import { delimiter, dirname } from 'node:path'
import { saveToken, obtainToken, planToken } from './agent-plan.ts'
import { createClient } from './client.ts'
import type { Context } from './context.ts'
import { launcherPath, locationOptions } from './launcher.ts'
import { runInherited } from './run-command.ts'

/** Pinned, so that a newer upload cannot run with a token of cowork. */
const inspector = '@modelcontextprotocol/inspector@2.12.0'
const agent = 'inspector'

/** Opens the official MCP Inspector on this daemon (K9) over stdio, so its arguments contain no token. */
export async function inspect(
  context: Context,
  { print = false }: { readonly print?: boolean },
): Promise<number | void> {
  const { paths, out, env } = context
  const inspectorCommand = inspectCommand(context)
  if (print) return out.data({ command: inspectorCommand }, () => [inspectorCommand.join(' ')])
  const api = createClient(context)
  const { auth } = await api.call('cowork_status')
  // With authentication off no token is needed, and adding an agent would turn it on.
  if (auth === 'closed') {
    const plan = await planToken(api, paths, agent)
    saveToken(paths, agent, await obtainToken(api, plan))
    if (plan.act !== 'keep') out.note(`The Inspector acts as agent ${agent}.`)
  }
  const [command = '', ...args] = inspectorCommand
  // The Inspector needs a newer Node than many machines have: use ours.
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
  // The Inspector lists every tool.
  '--tools',
  'all',
  ...locationOptions(place),
]
