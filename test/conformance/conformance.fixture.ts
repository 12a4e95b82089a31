// The tools, features and tasks that the official suite expects; the server under test is otherwise unchanged.
import type { Tool } from '#base/tool.ts'
import type { McpFeature, TaskSource } from '#server'
import { createTriggers, suiteFeatures } from './features.ts'
import { createTasks, taskTools } from './tasks.ts'
import { suiteTools } from './tools.ts'

export function createFixture(): { tools: Tool[]; features: McpFeature[]; tasks: TaskSource } {
  const tasks = createTasks()
  const triggers = createTriggers()
  return {
    tools: [...suiteTools, ...taskTools(tasks), ...triggers.tools],
    features: [...suiteFeatures, triggers.feature],
    tasks: tasks.source,
  }
}
