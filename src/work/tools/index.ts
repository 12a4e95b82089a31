import type { Tool } from '#base/tool.ts'
import type { Work } from '../service.ts'
import { changeTools } from './changes.ts'
import { projectTools } from './projects.ts'
import { readTools } from './reads.ts'
import { withTargets } from './targets.ts'

export const workTools = (work: Work): Tool[] => [
  ...readTools(work),
  ...changeTools(work).map((tool) => withTargets(tool, work)),
  ...projectTools(work),
]
