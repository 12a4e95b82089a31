import * as z from 'zod'
import { toSafeJson } from '#base/sanitize.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { loadGuidance } from '../guidance.ts'
import { unknownProjectError } from '../journal.ts'
import { splitText, paginate } from '../paging.ts'
import type { Work } from '../service.ts'
import { syncVault } from '../vault/sync.ts'
import { toSprintSummary } from '../views.ts'
import { agent, cursor, shortText, project, toCallTarget, omitAgent } from './shared-schemas.ts'
import { workResults } from '../wire.ts'

const read = { toolset: 'work', effect: 'read', by: 'anyone' } as const
const write = { toolset: 'work', effect: 'write', by: 'anyone' } as const

const guidanceInput = z
  .strictObject({
    inherit: z.array(z.string().max(100)).max(20).optional(),
    project: z
      .array(
        z.strictObject({
          name: z.string().max(100),
          source: z.enum(['repo', 'data']).default('repo'),
          path: z.string().max(500),
          mode: z.enum(['replace', 'append']).default('replace'),
        }),
      )
      .max(20)
      .optional(),
  })
  .optional()

export const projectTools = (work: Work): Tool[] => [
  defineTool({
    ...read,
    name: 'worksync_projects',
    title: 'Projects',
    description: 'List projects, or show one with its sprints and guidance.',
    input: z.object({ project: project.optional(), cursor }),
    output: workResults.worksync_projects,
    describeTarget: (input) => toCallTarget(input.project ?? '*'),
    async read(input, call) {
      const names = input.project === undefined ? work.projects() : [input.project]
      const results = await Promise.all(
        names.map(async (name) => {
          const entry = work.registry.get(name)
          if (!entry) throw unknownProjectError(name)
          const snapshot = await work.snapshots.current(name)
          const [broken, unwritten] = [work.getInvalidFile(name), work.getWriteFailure(name)]
          const base = {
            project: name,
            ...(entry.description && { description: entry.description }),
            ...(entry.repo && { repo: entry.repo }),
            sprints: snapshot.sprints().length,
            stories: snapshot.stories().length,
            backlog: snapshot.backlog().length,
            conflicts: snapshot.conflicts().length,
            ...(broken && { broken: broken.problems }),
            ...(unwritten && { unwritten }),
          }
          if (input.project === undefined) return base
          const { texts } = await loadGuidance(work, call, name, entry)
          const inSprint = Map.groupBy(snapshot.stories(), ({ sprint }) => sprint)
          return {
            ...base,
            folder: work.root.folderOf(name),
            guidance: texts.map((text) => text.name),
            sprint_list: paginate(
              snapshot
                .sprints()
                .map((sprint) => () => toSprintSummary(sprint, inSprint.get(sprint.item.id) ?? [])),
              { limit: 100 },
              12_000,
            ).page,
          }
        }),
      )
      const { page, ...next } = paginate(results, { cursor: input.cursor })
      return { projects: page, ...next }
    },
  }),
  defineTool({
    ...read,
    name: 'worksync_guidance',
    title: 'Guidance',
    description:
      'Read the guidance before you write code: foundational, then the project’s own. `topic` selects one text.',
    input: z.object({ project: project.optional(), topic: z.string().max(100).optional(), cursor }),
    output: workResults.worksync_guidance,
    describeTarget: (input) => toCallTarget(input.project ?? '*'),
    async read({ project: name, topic, cursor: from }, call) {
      const entry = name === undefined ? undefined : work.registry.get(name)
      if (name !== undefined && !entry) throw unknownProjectError(name)
      const { texts, faults } = await loadGuidance(work, call, name, entry)
      const selected = texts.filter((one) => topic === undefined || one.name.includes(topic))
      // Long texts are split, so that every reply stays below its limit.
      const chunks = selected.flatMap(({ text, ...rest }) =>
        splitText(text).map((chunk) => ({ ...rest, text: chunk })),
      )
      const { page, ...next } = paginate(chunks, { cursor: from })
      return {
        guidance: page,
        topics: texts.map((one) => one.name),
        ...(faults.length > 0 && { faults: [...faults] }),
        ...next,
      }
    },
    text: ({ guidance, topics, faults = [], next_cursor: next }) =>
      [
        ...guidance.map(({ name, from, text }) => `[${name}, from ${from}]\n${text}`),
        ...(guidance.length === 0 ? ['No guidance found.'] : []),
        ...faults.map(({ name, message }) => `[${name} failed: ${message}]`),
        `[topics: ${topics.join(', ') || 'none'}]`,
        ...(next === undefined
          ? []
          : [`[Truncated. Repeat the call with "cursor": ${toSafeJson(next)}]`]),
      ].join('\n\n'),
  }),
  defineTool({
    ...write,
    name: 'worksync_sync',
    idempotent: true,
    title: 'Write the vault',
    description:
      'Write the Obsidian vault from the work index. A second run without changes writes nothing.',
    input: z.object({ project: project.optional(), agent }),
    output: workResults.worksync_sync,
    describeTarget: (input) => toCallTarget(input.project ?? '*'),
    async run(input, call) {
      const { project: name } = omitAgent(input, call)
      if (name !== undefined && !work.registry.get(name)) throw unknownProjectError(name)
      return { output: await syncVault(work, name) }
    },
  }),
  defineTool({
    ...write,
    name: 'worksync_register_project',
    additive: true,
    aliases: { name: 'project' },
    title: 'Register a project',
    description: 'Add a project: its folder, an empty work index, and its entry in the registry.',
    input: z.object({
      project,
      description: shortText.optional(),
      repo: z.string().max(1000).optional().describe('Folder of its repository'),
      guidance: guidanceInput,
      agent,
    }),
    output: workResults.worksync_register_project,
    describeTarget: (input) => toCallTarget(input.project),
    // Registration lets agents read guidance from that folder.
    isRisky: (input) => input.repo !== undefined || input.guidance?.project !== undefined,
    async run(input, call) {
      const { project: name, description, repo, guidance } = omitAgent(input, call)
      await work.registry.register(
        name,
        {
          ...(repo !== undefined && { repo }),
          ...(description !== undefined && { description }),
          ...(guidance && { guidance }),
        },
        call,
      )
      return { output: { project: name, folder: work.root.folderOf(name) } }
    },
  }),
  defineTool({
    ...write,
    name: 'worksync_unregister_project',
    title: 'Unregister a project',
    description: 'Remove a project from the registry. Its files stay on disk.',
    input: z.object({ project, agent }),
    output: workResults.worksync_unregister_project,
    describeTarget: (input) => toCallTarget(input.project),
    isRisky: () => true,
    async run(input, call) {
      const { project: name } = omitAgent(input, call)
      await work.registry.unregister(name, call)
      return { output: { project: name, folder: work.root.folderOf(name) } }
    },
  }),
]
