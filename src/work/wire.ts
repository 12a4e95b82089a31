import * as z from 'zod'

const item = z.looseObject({ id: z.string() })

const lease = z.object({
  agent: z.string(),
  session: z.string(),
  since: z.string(),
  until: z.string(),
  fence: z.number(),
})

const historyEntry = z.looseObject({ date: z.string(), summary: z.string() })

/** Projects answered from the last valid version because their file is invalid. */
const stale = z.array(z.string()).optional().describe('Projects whose file is invalid')

const list = z.array(z.looseObject({}))

export const workResults = {
  worksync_add_backlog: z.object({ item }),
  worksync_update_backlog: z.object({ item }),
  worksync_remove_backlog: z.object({ removed: item }),
  worksync_create_sprint: z.object({ sprint: item }),
  worksync_update_sprint: z.object({ sprint: item, carried: z.array(z.string()) }),
  worksync_add_story: z.object({ story: item }),
  worksync_update_story: z.object({ story: item }),
  worksync_done: z.object({ story: item, history: historyEntry }),
  worksync_claim: z.object({ story: item, lease, renewed: z.boolean() }),
  worksync_release: z.object({ story: item }),
  worksync_comment: z.object({ id: z.string(), comments: z.number() }),
  worksync_move: z.object({ story: item }),
  worksync_resolve: z.object({ resolved: z.string(), item: z.looseObject({}).optional() }),
  worksync_projects: z.object({
    projects: z.array(z.looseObject({ project: z.string() })),
    next_cursor: z.string().optional(),
  }),
  worksync_guidance: z.object({
    guidance: z.array(z.object({ name: z.string(), from: z.string(), text: z.string() })),
    topics: z.array(z.string()),
    faults: z.array(z.object({ name: z.string(), message: z.string() })).optional(),
    next_cursor: z.string().optional(),
  }),
  worksync_sync: z.object({
    vault_path: z.string(),
    written: z.number(),
    removed: z.number(),
    notes: z.number(),
  }),
  worksync_register_project: z.object({ project: z.string(), folder: z.string() }),
  worksync_unregister_project: z.object({ project: z.string(), folder: z.string() }),
  worksync_history: z.object({
    history: z.array(historyEntry),
    total: z.number(),
    next_cursor: z.string().optional(),
    appended: historyEntry.optional(),
    stale,
  }),
  worksync_status: z.object({ projects: list, next_cursor: z.string().optional(), stale }),
  worksync_get: z.looseObject({ stale }),
  worksync_ready: z.object({
    stories: list,
    total: z.number(),
    next_cursor: z.string().optional(),
    stale,
  }),
  worksync_search: z.object({
    results: list,
    total: z.number(),
    next_cursor: z.string().optional(),
    stale,
  }),
}
