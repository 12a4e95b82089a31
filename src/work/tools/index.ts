import type { Tool } from '#base/tool.ts'
import type { Work } from '../service.ts'
import { changeTools } from './changes.ts'
import { projectTools } from './projects.ts'
import { readTools } from './reads.ts'

export const workTools = (work: Work): Tool[] => [
  ...readTools(work),
  ...changeTools(work).map((tool) => withTargets(tool, work)),
  ...projectTools(work),
]

type Input = Readonly<Record<string, unknown>>
type Kind = 'story' | 'sprint' | 'item'

/** The items that each tool changes; additions such as comments depend on no revision. */
const targets: Readonly<Record<string, Partial<Record<Kind, string>>>> = {
  worksync_add_backlog: { item: 'item_id' },
  worksync_update_backlog: { item: 'item_id' },
  worksync_remove_backlog: { item: 'item_id' },
  worksync_create_sprint: { sprint: 'sprint_id' },
  worksync_update_sprint: { sprint: 'sprint_id' },
  worksync_add_story: { story: 'story_id' },
  worksync_update_story: { story: 'story_id' },
  worksync_done: { story: 'story_id' },
  worksync_claim: { story: 'story_id' },
  worksync_release: { story: 'story_id' },
  worksync_move: { story: 'story_id', item: 'item_id' },
}

/** Binds approvals of a tool to the revision of the items that it changes (A15). */
function withTargets(tool: Tool, { snapshots }: Pick<Work, 'snapshots'>): Tool {
  const idArguments = targets[tool.name]
  return idArguments ? { ...tool, fingerprint } : tool

  async function fingerprint(input: Input) {
    const snapshot = await snapshots.current(String(input['project']))
    const lookups = { story: snapshot.story, sprint: snapshot.sprint, item: snapshot.backlogItem }
    const states = Object.entries(idArguments ?? {}).flatMap(([kind, argument]) => {
      const id = input[argument]
      return typeof id === 'string'
        ? [[`${kind} ${id}`, lookups[kind as Kind](id)?.rev ?? null] as const]
        : []
    })
    return states.length > 0 ? Object.fromEntries(states) : undefined
  }
}
