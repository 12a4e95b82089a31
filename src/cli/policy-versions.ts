import { readFileSync } from 'node:fs'
import { messageOf } from '#base/errors.ts'
import type { Client } from './client.ts'
import { command, toolCommand } from './command.ts'
import { usage } from './exit.ts'
import { flag, required, text } from './option-kinds.ts'
import { tableOf } from './output.ts'
import { plainLines } from './plain.ts'
import { byPrefix } from './prefix.ts'

const read = (client: Client, asked: object = {}) =>
  client.call('cowork_policy_versions', { limit: 200, ...asked })

/** A version by its beginning, its number or `active`. */
export async function versionNamed(client: Client, given: string): Promise<string> {
  const { active, versions } = await read(client)
  if (given === 'active') return active
  const numbered = versions.find(({ number }) => String(number) === given)
  const names = [...new Set(versions.map(({ version }) => version))]
  return numbered?.version ?? byPrefix(given, names, 'version')
}

export const versionCommands = [
  // The newest first; or what one of them says, as YAML (Y6).
  command({
    usage: 'versions [version]',
    summary: 'the versions there were, or what one of them says',
    run: async ({ client, args: [given] }) =>
      read(client, given === undefined ? {} : { version: await versionNamed(client, given) }),
    show: ({ versions, text: said }, { args: [given] }) =>
      given === undefined
        ? tableOf(versions, '', {
            VERSION: ({ version }) => version,
            NO: ({ number }) => number,
            SINCE: ({ at }) => at.slice(0, 16).replace('T', ' '),
            BY: ({ by }) => by,
            FROM: ({ source }) => (source === 'file' ? 'cowork.yaml' : 'saved'),
            // The same again has the same name: only the newest of them is in force.
            STATE: (one) => (one === versions[0] ? 'in force' : ''),
            NOTE: ({ note }) => note,
          })
        : plainLines(said?.trimEnd() ?? ''),
  }),
  toolCommand({
    usage: 'diff <from> [to]',
    summary: 'what differs between two versions, or from --file',
    options: { file: text('--file <file>', 'compare with this in place of a version') },
    help: 'A version is named by its beginning, its number, or active.',
    check({ args: [, to], options: { file } }) {
      if ((to === undefined) === (file === undefined))
        throw usage(
          'Compare with another version or with --file, one of them.',
          '`cowork policy diff 1 active` shows what changed since the first.',
        )
    },
    tool: 'cowork_policy_diff',
    input: async ({ client, args: [from, to], options: { file } }) => ({
      from: await versionNamed(client, from),
      to: to === undefined ? undefined : await versionNamed(client, to),
      body: file === undefined ? undefined : bodyIn(file),
    }),
    show: ({ changed, diff }) => (changed ? plainLines(diff) : 'Nothing differs.'),
  }),
  // Says before what it would have changed (Y6).
  command({
    usage: 'save',
    summary: 'put a file in force',
    options: {
      file: required(text('--file <file>', 'policies and mappings, as in cowork.yaml, or as JSON')),
      note: required(text('--note <text>', 'why, for whoever reads the history')),
      from: text('--from <version>', 'refuse where another was saved since this one'),
      confirm: flag(
        '--confirm',
        'also where agents that worked lately could propose nothing any more',
      ),
    },
    person: 'Saving policies',
    words: {
      would_lock_out: {
        hint: 'Map them to a policy, or add --confirm if that is what you want. Nothing was saved.',
      },
    },
    async run({ client, out, options: { file, note, from: given, confirm = false } }) {
      const body = bodyIn(file)
      const from = given === undefined ? undefined : await versionNamed(client, given)
      const { summary } = await client.call('cowork_simulate_policy', { body })
      out.note(`On what agents did in the last 30 days: ${summary}.`)
      return client.call('cowork_save_policies', { body, note, confirm, from })
    },
    show: ({ message }) => message,
    notes: ({ changed, from, version }) =>
      changed ? [`\`cowork policy diff ${from} ${version}\` shows what changed.`] : [],
  }),
]

/** The text as it stands there: the daemon judges it by the words of cowork.yaml, also where it is JSON. */
export function bodyIn(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw usage(`Cannot read ${file}: ${messageOf(cause)}.`, 'Check the path given with --file.')
  }
}
