import type { Environment } from '#base/config/env.ts'
import { loadConfig } from '#base/config/index.ts'
import { CoworkError } from '#base/errors.ts'
import type { Context } from './context.ts'

/**
 * Refuses unless a person is at the terminal (I10). Best effort: an agent can unset a variable and open its own
 * terminal, so dangerous actions need a passkey too.
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
    (name) => env[name] && markers.some((marker) => matchesMarker(name, marker)),
  )
  if (marker !== undefined)
    throw new CoworkError(
      'human_required',
      `${what} is for people, but ${marker} shows that an agent controls this terminal.`,
      {
        hint: 'Use your own terminal or the console. This check is best effort; server.agent_markers lists the variables it checks.',
      },
    )
  if (!isTerminal)
    throw new CoworkError('human_required', `${what} needs a person at a terminal.`, {
      hint: 'Run the command in a terminal, or use the console.',
    })
}

/** Refuses unless a person started this command at a terminal. */
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

const matchesMarker = (name: string, marker: string): boolean =>
  marker.endsWith('*') ? name.startsWith(marker.slice(0, -1)) : name === marker
