import * as z from 'zod'
import { effort } from '#base/soft-limit.ts'
import type { Call } from '#base/tool.ts'
import { backlogStatuses, priorities, sprintStatuses, storyStatuses } from '../model.ts'

/**
 * Schemas shared by the work tools. Texts are short because every agent has them in its context.
 */
const id = z
  .string()
  .min(1)
  .max(100)
  // A refinement, because a schema pattern would repeat in every tool listing.
  .refine((one) => !one.includes('\0'), 'must not contain NUL')
export const shortText = z.string().trim().min(1).max(500)
const boundedText = z.string().max(50_000)
/** Text of a backlog item, stored in its own file (W25). */
const longText = z.string().max(256_000).optional().describe('Long text in Markdown')
export const ids = z.array(id).max(200)

export const project = id
export const sprintId = id
export const storyId = id
export const itemId = id
export const cursor = z.string().max(20).optional()
export const limit = effort(z.int().min(1).max(1000)).optional()

const sprintStatus = z.enum(sprintStatuses)
const storyStatus = z.enum(storyStatuses)
const backlogStatus = z.enum(backlogStatuses)
const priority = z.enum(priorities)
const date = z.iso.date()

/** The self-declared agent, recorded as a claim next to the authenticated agent (W8). */
export const agent = z.string().max(128).optional().describe('Your name')
const expectRev = z.number().int().optional().describe('Expected revision')
const fence = z.number().int().optional().describe('From your claim')

/**
 * WorkSync passes the sprint of a story; another sprint is an error because nothing is moved (W15,
 * W16).
 */
const inSprint = id.optional().describe('Expected sprint')

const storyFields = {
  title: shortText.optional(),
  status: storyStatus.optional(),
  notes: boundedText.optional(),
  priority: priority.optional(),
  estimate: z.number().min(0).max(10_000).optional(),
  depends_on: ids.optional().describe('Story ids'),
  acceptance: z
    .array(z.strictObject({ text: shortText, done: z.boolean().optional() }))
    .max(100)
    .optional(),
  paths: z.array(z.string().max(500)).max(100).optional().describe('Files it changes'),
}
const sprintFields = {
  title: shortText.optional(),
  status: sprintStatus.optional(),
  goal: boundedText.optional(),
  themes: ids.optional(),
  file: z.string().max(500).optional(),
  start: date.optional(),
  end: date.optional(),
}
const backlogFields = {
  theme: id.optional(),
  status: backlogStatus.optional(),
  priority: priority.optional(),
  related_sprints: ids.optional(),
}

/** The input of each change; operations get it without `agent`. */
export const changeInputs = {
  worksync_add_backlog: z.object({
    project,
    item_id: itemId.optional(),
    summary: shortText,
    ...backlogFields,
    text: longText,
    agent,
  }),
  worksync_update_backlog: z.object({
    project,
    item_id: itemId,
    summary: shortText.optional(),
    ...backlogFields,
    theme: backlogFields.theme.nullable(),
    priority: backlogFields.priority.nullable(),
    text: longText,
    text_sha256: z.string().max(64).optional().describe('Hash of the replaced text'),
    expect_rev: expectRev,
    agent,
  }),
  worksync_remove_backlog: z.object({ project, item_id: itemId, expect_rev: expectRev, agent }),
  worksync_create_sprint: z.object({ project, sprint_id: sprintId, ...sprintFields, agent }),
  worksync_update_sprint: z.object({
    project,
    sprint_id: sprintId,
    ...sprintFields,
    carry_to: sprintId.optional(),
    archive: z.boolean().optional(),
    expect_rev: expectRev,
    agent,
  }),
  worksync_add_story: z.object({
    project,
    sprint_id: sprintId,
    story_id: storyId.optional(),
    ...storyFields,
    agent,
  }),
  worksync_update_story: z.object({
    project,
    story_id: storyId,
    ...storyFields,
    priority: storyFields.priority.nullable(),
    estimate: storyFields.estimate.nullable(),
    append_notes: boundedText.optional(),
    sprint_id: inSprint,
    expect_rev: expectRev,
    fence,
    agent,
  }),
  worksync_done: z.object({
    project,
    story_id: storyId,
    summary: shortText.optional().describe('For the history'),
    notes: boundedText.optional().describe('Added to the notes'),
    sprint_id: inSprint,
    expect_rev: expectRev,
    fence,
    agent,
  }),
  worksync_claim: z.object({
    project,
    story_id: storyId,
    ttl_seconds: effort(z.int().min(1).max(86_400)).optional(),
    agent,
  }),
  worksync_release: z.object({
    project,
    story_id: storyId,
    status: storyStatus.optional(),
    fence,
    agent,
  }),
  worksync_comment: z.object({
    project,
    story_id: storyId.optional(),
    item_id: itemId.optional(),
    text: z.string().trim().min(1).max(10_000),
    agent,
  }),
  worksync_move: z.object({
    project,
    story_id: storyId.optional(),
    item_id: itemId.optional(),
    sprint_id: sprintId,
    expect_rev: expectRev,
    fence,
    agent,
  }),
  worksync_resolve: z.object({
    project,
    conflict_id: itemId,
    take: z.enum(['ours', 'theirs']),
    agent,
  }),
}
export type ChangeName = keyof typeof changeInputs
export type ChangeInput<N extends ChangeName> = Omit<z.output<(typeof changeInputs)[N]>, 'agent'>

/** Records the self-declared agent and removes it from the input. */
export function omitAgent<I extends { readonly agent?: string | undefined }>(
  { agent: claim, ...rest }: I,
  call: Call,
): Omit<I, 'agent'> {
  if (claim !== undefined && claim !== call.caller.id) call.addDetails({ data: { claim } })
  return rest
}

export const toCallTarget = (name: string, about?: string) => ({
  domain: 'work',
  target: about === undefined ? name : `${name}/${about}`,
})
