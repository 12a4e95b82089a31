// What the official suite expects to find, behind the same catalogue, dispatch and door as everything else.
import { createRig } from './rig.ts'
import { suiteFeatures } from './features.ts'
import { createTasks, taskTools } from './tasks.ts'
import { rawTool, text } from './tool.ts'
import { suiteTools } from './tools.ts'

export async function createFixture() {
  const tasks = createTasks()
  const triggers = [
    rawTool('test_trigger_tool_change', () => {
      rig.door.toolsChanged()
      return text('Told.')
    }),
    rawTool('test_trigger_prompt_change', () => {
      rig.door.promptsChanged()
      return text('Told.')
    }),
  ]
  const rig = await createRig({
    tools: [...suiteTools, ...taskTools(tasks), ...triggers],
    features: suiteFeatures,
    tasks: tasks.source,
  })
  return rig
}
