import type { Environment } from '#base/config/env.ts'
import { loadConfig } from '#base/config/index.ts'
import { CoworkError } from '#base/errors.ts'
import type { Context } from './context.ts'

/**
 * What only a person at a terminal may do (I10). Best effort: an agent can unset a variable and open a
 * terminal of its own, so what is dangerous asks for a passkey besides.
 */
export function requirePerson(
  what: string,
  {
    env,
    markers,
    isTerminal,
  }: { env: Environment; markers: readonly string[]; isTerminal: boolean },
): void {
  const marker = Object.keys(env).find(
    (name) => env[name] && markers.some((one) => fits(name, one)),
  )
  if (marker !== undefined)
    throw new CoworkError(
      'human_required',
      `${what} is for people, and ${marker} says that an agent drives this terminal.`,
      {
        hint: 'Use a terminal of your own, or the console. This check is best effort; server.agent_markers lists what it looks for.',
      },
    )
  if (!isTerminal)
    throw new CoworkError('human_required', `${what} needs a terminal with a person at it.`, {
      hint: 'Run it by hand, or use the console.',
    })
}

/** The same for whoever started this command. */
export function requirePersonAtTerminal(
  { env, configFile }: Context,
  what: string,
  config = loadConfig({ file: configFile, env }).config,
): void {
  const { stdin, stderr } = process
  requirePerson(what, {
    env,
    markers: config.server.agent_markers,
    isTerminal: stdin.isTTY === true && stderr.isTTY === true,
  })
}

const fits = (name: string, marker: string): boolean =>
  marker.endsWith('*') ? name.startsWith(marker.slice(0, -1)) : name === marker
