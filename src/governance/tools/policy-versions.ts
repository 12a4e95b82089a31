import * as z from 'zod'
import { effort } from '#base/effort.ts'
import { CoworkError } from '#base/errors.ts'
import { forPeople } from '#base/own-tools.ts'
import { defineTool } from '#base/tool.ts'
import { unifiedDiff } from '#base/unified-diff.ts'
import { textOfBody } from '../policies/body.ts'
import type { PolicyBody } from '../policies/body.ts'
import type { Governance } from '../service.ts'
import { noVersion } from '../policies/simulation.ts'
import type { Simulation } from '../policies/simulation.ts'
import { bodyInput, shownBody, shownVersion, versionName } from './policy-shapes.ts'
import { text } from './words.ts'
import { policyResults } from '../wire/policies.ts'

export const savePoliciesTool = ({ versions }: Governance, simulation: Simulation) =>
  defineTool({
    ...forPeople.write,
    name: 'cowork_save_policies',
    title: 'Save policies',
    description:
      'Puts a new version of the policies in force, from the next proposal and call on, in every daemon. The versions before stay.',
    role: 'owner',
    assured: true,
    input: z.object({
      body: bodyInput,
      note: text(1000).default('').describe('Why, for whoever reads the history'),
      from: versionName
        .optional()
        .describe('The version it was made of: refused when another was saved meanwhile'),
      confirm: z
        .boolean()
        .default(false)
        .describe('Save it although agents that worked lately could propose nothing any more'),
    }),
    output: policyResults.cowork_save_policies,
    // The store is changed in a transaction of its own: what is in force changes after it, and only then.
    async run({ body, note, from, confirm }, call) {
      const read = simulation.read(body)
      const lost = confirm ? [] : await simulation.lockedOut(read)
      if (lost.length > 0) throw wouldLockOut(lost)
      const saved = await versions.save(read, { note, from }, call)
      const { version, number } = saved.version
      const output = {
        version,
        number,
        from: saved.from,
        changed: saved.isNew,
        message: saved.isNew
          ? `Version ${version} is in force.`
          : `Version ${version} says the same already.`,
      }
      return { output }
    },
  })

const wouldLockOut = (agents: readonly { agent_id: string }[]) => {
  const names = agents.slice(0, 5).map(({ agent_id }) => agent_id)
  const more = agents.length > names.length ? ` and ${agents.length - names.length} more` : ''
  return new CoworkError(
    'would_lock_out',
    `Under these policies ${names.join(', ')}${more} could propose nothing of what they proposed in the last 30 days.`,
    {
      hint: 'Map them to a policy, or save with confirm: true if that is what you want.',
      details: { agents: agents.slice(0, 100) },
    },
  )
}

export const policyVersionsTool = ({ versions }: Governance) =>
  defineTool({
    ...forPeople.read,
    name: 'cowork_policy_versions',
    title: 'Versions of the policies',
    description: 'The policies there ever were, newest first; and what one of them says.',
    input: z.object({
      version: versionName.optional().describe('Show what this one says'),
      limit: effort(z.int().min(1).max(200)).default(50),
    }),
    output: policyResults.cowork_policy_versions,
    async read({ version, limit }) {
      const listed = (await versions.list(limit)).map(shownVersion)
      const answer = { active: versions.version(), versions: listed }
      if (version === undefined) return answer
      const found = await versions.find(version)
      if (!found?.body) throw noVersion(version)
      const { body } = found
      return { ...answer, body: shownBody(body), text: textOfBody(body) }
    },
  })

async function sideOf(
  { versions }: Governance,
  name: string,
): Promise<{ name: string; body: PolicyBody }> {
  const found = await versions.find(name === 'active' ? undefined : name)
  if (!found?.body) throw noVersion(name)
  return { name: found.version.version, body: found.body }
}

export const policyDiffTool = (governance: Governance, simulation: Simulation) =>
  defineTool({
    ...forPeople.read,
    name: 'cowork_policy_diff',
    title: 'Compare policies',
    description: 'What differs between two versions of the policies, or from what you wrote.',
    input: z.object({
      from: versionName.describe('A version, or `active`'),
      to: versionName.optional().describe('A version, or `active`; absent where `body` is given'),
      body: bodyInput.optional(),
    }),
    output: policyResults.cowork_policy_diff,
    async read({ from, to, body }) {
      if ((to === undefined) === (body === undefined))
        throw new CoworkError('invalid_input', 'Compare with `to` or with `body`, one of them.', {
          hint: 'Give the version it is compared with, or what you wrote.',
        })
      const old = await sideOf(governance, from)
      const young =
        to === undefined
          ? { name: 'written', body: simulation.read(body) }
          : await sideOf(governance, to)
      const diff = unifiedDiff(
        { name: old.name, text: textOfBody(old.body) },
        { name: young.name, text: textOfBody(young.body) },
      )
      return { from: old.name, to: young.name, changed: diff !== '', diff }
    },
  })
