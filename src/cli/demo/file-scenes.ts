import { join } from 'node:path'
import { currentFolders } from '#base/config/index.ts'
import type { createDemoAgent } from './agent.ts'

type Agent = ReturnType<typeof createDemoAgent>

/** What an agent writes during the hour: small files with names of their own, in the folders meant for them. */
const written = [
  {
    path: 'Documents/reports/demo-week.md',
    content: '# The week\n\n- 12 contacts updated\n- 3 offers sent\n- 1 deal won\n',
  },
  {
    path: 'Research/summaries/demo-fair.md',
    content: '# The fair in Zurich\n\nMost visitors asked for the price list first.\n',
  },
  {
    path: 'Spreadsheets/demo-deals.csv',
    content: 'deal,stage,amount\ndeal_12,offer,48000\ndeal_17,won,12500\ndeal_31,open,9000\n',
  },
  { path: 'temp/demo-scratch.txt', content: 'call back deal_31\n' },
] as const

/** Where its files are after it; the last one is in the trash. */
export const writtenPaths = written.slice(0, -1).map(({ path }) => path)

/**
 * Files to look at, one with an earlier version and one in the trash, and a question that only a person
 * answers: whether the agent may read what is theirs (K7). What was there before is written over: it is ours.
 */
export async function workOnFiles(agent: Agent): Promise<boolean> {
  for (const file of written) await agent.call('create_file', { ...file, overwrite: true })
  await agent.call('update_file', {
    path: 'Documents/reports/demo-week.md',
    edits: [{ old: '1 deal won', new: '2 deals won' }],
    create_backup: false,
  })
  await agent.call('delete_file', { path: 'temp/demo-scratch.txt' })
  const request = await agent.call('request_grant', {
    path: join(currentFolders().home, 'Documents'),
    permission: 'read',
    reason: 'To find the signed version of the contract with deal_12.',
  })
  // Where the folder can never be granted there is nothing to ask.
  return request.structuredContent?.['status'] === 'pending'
}
