import * as z from 'zod'
import { backlogStatuses, priorities, sprintStatuses, storyStatuses } from '../model.ts'

// Loose objects preserve unknown keys of people (W9). PostgreSQL text cannot contain NUL.
const id = z
  .string()
  .min(1)
  .refine((one) => !one.includes('\0'), 'must not contain NUL')
const words = z.array(z.string())
const tracked = {
  rev: z.number().int().min(0).optional(),
  updated: z.string().optional(),
  by: z.string().optional(),
}

const story = z.looseObject({
  id,
  title: z.string().optional(),
  status: z.enum(storyStatuses),
  notes: z.string().nullish(),
  priority: z.enum(priorities).optional(),
  estimate: z.number().min(0).optional(),
  depends_on: words.optional(),
  acceptance: z.array(z.looseObject({ text: z.string(), done: z.boolean().optional() })).optional(),
  paths: words.optional(),
  comments: z.array(z.looseObject({ at: z.string(), by: z.string(), text: z.string() })).optional(),
  lease: z
    .looseObject({
      agent: z.string(),
      session: z.string(),
      since: z.string(),
      until: z.string(),
      fence: z.number().int(),
    })
    .optional(),
  ...tracked,
})

const sprint = z.looseObject({
  id,
  title: z.string().nullish(),
  file: z.string().nullish(),
  status: z.enum(sprintStatuses),
  goal: z.string().nullish(),
  themes: words.nullish(),
  start: z.string().optional(),
  end: z.string().optional(),
  stories: z.array(story).nullish(),
  ...tracked,
})

const backlogItem = z.looseObject({
  id,
  theme: z.string().nullish(),
  summary: z.string(),
  status: z.enum(backlogStatuses),
  priority: z.enum(priorities).optional(),
  related_sprints: words.nullish(),
  ...tracked,
})

const historyEntry = z.looseObject({
  date: z.string(),
  summary: z.string(),
  related_sprints: words.nullish(),
  at: z.string().optional(),
  by: z.string().optional(),
  kind: z.string().optional(),
  ref: z.string().optional(),
})

const conflict = z.looseObject({
  id,
  item: z.string(),
  of: z.enum(['sprint', 'story', 'backlog']).optional(),
  field: z.string(),
  kind: z.enum(['same_field', 'delete_against_edit', 'possible_revert']),
  at: z.string(),
})

/** Schema of work-index.yaml; accepts WorkSync's own files unchanged (W9). */
export const workIndexSchema = z.looseObject({
  version: z.number().int().min(1).max(2).default(1),
  next_story: z.number().int().min(1).optional(),
  sprints: z.array(sprint).nullish(),
  backlog: z.array(backlogItem).nullish(),
  history: z.array(historyEntry).nullish(),
  conflicts: z.array(conflict).nullish(),
})

/** Builds the JSON Schema for SCHEMA/, which editors find through the first line of the file. */
export const workIndexJsonSchema = (): Record<string, unknown> => ({
  ...z.toJSONSchema(workIndexSchema, { io: 'input' }),
  title: 'work-index.yaml',
})

/** Returns the text of an empty work index. The first line points editors to the schema. */
export const newIndexText =
  (): string => `# yaml-language-server: $schema=./SCHEMA/work-flow-schema.json
version: 2
next_story: 1
sprints: []
backlog: []
history: []
conflicts: []
`
