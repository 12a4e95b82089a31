import type { Caller } from '#base/caller.ts'
import type { Prompt } from '#base/prompt.ts'
import { namesInside, readInside } from './disk/confined-read.ts'
import type { Work } from './service.ts'

const project = { name: 'project', description: 'The project; all of them where left out' }
type Arguments = Parameters<Prompt['render']>[1]
const about = (given: string | undefined) =>
  given ? ` of the project ${JSON.stringify(given)}` : ''
const in_ = (given: string | undefined) => (given ? ` in ${JSON.stringify(given)}` : '')

const beginnings: readonly (Omit<Prompt, 'render'> & { text(args: Arguments): string })[] = [
  {
    name: 'work_status',
    title: 'Where we stand',
    description: 'The state of the work in a few sentences',
    arguments: [project],
    text: ({ project: name }) =>
      `Call worksync_status${in_(name)} and tell me where the work${about(name)} stands: what is in progress and by whom, what is blocked and by what, what can be begun, and which conflicts wait for somebody. Begin with what needs me.`,
  },
  {
    name: 'work_sync',
    title: 'Bring the plan up to date',
    description: 'Compare what was done with what the plan says, then write the vault',
    arguments: [project],
    text: ({ project: name }) =>
      `Bring the plan${about(name)} up to date. Read worksync_status, compare it with what you did and know, and show me the differences before you change anything. Then update the stories (append_notes for facts), finish what is done with worksync_done, and call worksync_sync at the end.`,
  },
  {
    name: 'work_focus',
    title: 'Take the next story',
    description: 'Choose what is ready, claim it, and begin',
    arguments: [project],
    text: ({ project: name }) =>
      `Find what to do next${in_(name)}: worksync_ready lists what nothing holds up. Read the first one whole with worksync_get, and worksync_guidance for how we work. Tell me in two sentences what you will do, claim it with worksync_claim, and begin. Claim it again every few minutes, and release it if you stop.`,
  },
  {
    name: 'work_done',
    title: 'Finish a story',
    description: 'Check the acceptance, then mark it done',
    arguments: [
      project,
      { name: 'story_id', description: 'The story; the one you claimed where left out' },
    ],
    text: ({ project: name, story_id: story }) =>
      `Finish ${story ? `the story ${JSON.stringify(story)}` : 'the story you have claimed'}${in_(name)}. Read it with worksync_get and check each point of its acceptance against what is really there; say plainly what is missing. If nothing is, call worksync_done with one sentence that tells people what changed.`,
  },
  {
    name: 'add_project',
    title: 'Add a project',
    description: 'Register a project and its first sprint',
    arguments: [{ name: 'project', description: 'Its name, such as my-project', required: true }],
    text: ({ project: name }) =>
      `Set up the project ${JSON.stringify(name ?? '')}. Ask me for a one-line description and, if there is one, the folder of its repository. Then call worksync_register_project, create a first sprint with worksync_create_sprint, and put what I tell you into the backlog.`,
  },
]

/** What people wrote into PROMPTS/ of a project is a prompt, too (W25). The names tell of projects, so they need the key. */
export const workPrompts = (
  work: Pick<Work, 'projects' | 'root' | 'keyRefusal'>,
  caller: Caller,
): Prompt[] => [
  ...beginnings.map(({ text, ...prompt }) => ({
    ...prompt,
    render: (_: Caller, args: Arguments) => Promise.resolve(text(args)),
  })),
  ...(work.keyRefusal(caller) ? [] : work.projects()).flatMap((name) => {
    const folder = work.root.folderOf(name)
    return namesInside(folder, 'PROMPTS')
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
