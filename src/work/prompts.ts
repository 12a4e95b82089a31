import type { Caller } from '#base/caller.ts'
import type { Prompt } from '#base/prompt.ts'
import { listInside, readInside } from './disk/confined-read.ts'
import type { Work } from './service.ts'

const project = { name: 'project', description: 'Project; default: all projects' }
type Arguments = Parameters<Prompt['render']>[1]
const inProjectClause = (projectName: string | undefined) =>
  projectName ? ` of the project ${JSON.stringify(projectName)}` : ''
const in_ = (projectName: string | undefined) =>
  projectName ? ` in ${JSON.stringify(projectName)}` : ''

const builtInPrompts: readonly (Omit<Prompt, 'render'> & { text(args: Arguments): string })[] = [
  {
    name: 'work_status',
    title: 'Work status',
    description: 'Summarize the state of the work',
    arguments: [project],
    text: ({ project: name }) =>
      `Call worksync_status${in_(name)} and summarize the state of the work${inProjectClause(name)}: stories in progress and who works on them, blocked stories and why, ready stories, and open conflicts. Start with what needs my attention.`,
  },
  {
    name: 'work_sync',
    title: 'Update the work index',
    description: 'Compare the work index with the work done, update it, then write the vault',
    arguments: [project],
    text: ({ project: name }) =>
      `Update the work index${inProjectClause(name)}. Read worksync_status, compare it with the work you did, and show me the differences before you change anything. Then update the stories (append_notes for facts), finish completed stories with worksync_done, and call worksync_sync at the end.`,
  },
  {
    name: 'work_focus',
    title: 'Start the next story',
    description: 'Choose a ready story, claim it and start',
    arguments: [project],
    text: ({ project: name }) =>
      `Find the next story${in_(name)} with worksync_ready. Read the first story in full with worksync_get, and our guidance with worksync_guidance. Tell me in two sentences what you will do, claim the story with worksync_claim, and start. Claim it again every few minutes, and release it if you stop.`,
  },
  {
    name: 'work_done',
    title: 'Finish a story',
    description: 'Check the acceptance criteria, then mark the story done',
    arguments: [project, { name: 'story_id', description: 'Story; default: the one you claimed' }],
    text: ({ project: name, story_id: story }) =>
      `Finish ${story ? `the story ${JSON.stringify(story)}` : 'the story you have claimed'}${in_(name)}. Read it with worksync_get, check each acceptance criterion against the actual result, and list what is missing. If nothing is missing, call worksync_done with one sentence that says what changed.`,
  },
  {
    name: 'add_project',
    title: 'Add a project',
    description: 'Register a project and its first sprint',
    arguments: [
      { name: 'project', description: 'Project name, such as my-project', required: true },
    ],
    text: ({ project: name }) =>
      `Set up the project ${JSON.stringify(name ?? '')}. Ask me for a one-line description and the folder of its repository, if any. Then call worksync_register_project, create a first sprint with worksync_create_sprint, and add the tasks I give you to the backlog.`,
  },
]

/**
 * Lists the prompts, including the files in PROMPTS/ of each project (W25). Their names reveal
 * projects, so they need the key.
 */
export const workPrompts = (
  work: Pick<Work, 'projects' | 'root' | 'keyRefusal'>,
  caller: Caller,
): Prompt[] => [
  ...builtInPrompts.map(({ text, ...prompt }) => ({
    ...prompt,
    render: (_: Caller, args: Arguments) => Promise.resolve(text(args)),
  })),
  ...(work.keyRefusal(caller) ? [] : work.projects()).flatMap((name) => {
    const folder = work.root.folderOf(name)
    return listInside(folder, 'PROMPTS')
      .filter((file) => /^[\w.-]+\.md$/.test(file))
      .map((file) => ({
        name: `${name}_${file.slice(0, -'.md'.length)}`,
        title: `${file.slice(0, -'.md'.length)} (${name})`,
        description: `From the prompts of ${name}`,
        arguments: [],
        render: async () => readInside(folder, `PROMPTS/${file}`).toString('utf8').slice(0, 50_000),
      }))
  }),
]
