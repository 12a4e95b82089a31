import type { ResourceSource } from '#base/resource.ts'
import { formatRfc3339 } from '#base/clock.ts'
import type { Work } from './service.ts'
import { toProjectStatus, toStoryDetail } from './views.ts'

const prefix = 'work://'
const json = 'application/json'
const maxListed = 50
const maxCompletions = 100

/** Serves projects and stories as resources (SV13). */
export const workResources = (work: Work): ResourceSource => ({
  prefix,
  tool: 'worksync_get',
  templates: [
    {
      uriTemplate: `${prefix}{project}`,
      name: 'project',
      title: 'Project',
      description: 'Sprints, stories in progress, counts and conflicts of a project',
      mimeType: json,
    },
    {
      uriTemplate: `${prefix}{project}/{story}`,
      name: 'story',
      title: 'Story',
      description: 'A story with its dependencies, comments and history',
      mimeType: json,
    },
  ],
  list: (caller) =>
    Promise.resolve(
      (work.keyRefusal(caller) ? [] : work.projects()).slice(0, maxListed).map((name) => ({
        uri: prefix + name,
        name: `project-${name}`,
        title: work.registry.get(name)?.description ?? name,
        mimeType: json,
      })),
    ),
  async read(caller, uri) {
    if (work.keyRefusal(caller)) return undefined
    const [name = '', id] = uri.slice(prefix.length).split('/').map(decodeURIComponent)
    if (!work.registry.get(name)) return undefined
    await work.projectSync.importEdits(name)
    const snapshot = await work.snapshots.current(name)
    const at = work.now()
    if (id === undefined)
      return {
        mimeType: json,
        text: JSON.stringify({ ...toProjectStatus(snapshot, at), as_of: formatRfc3339(at) }),
      }
    const story = snapshot.story(id)
    return story && { mimeType: json, text: JSON.stringify(toStoryDetail(snapshot, story, at)) }
  },
  async complete(caller, parameter, start) {
    if (work.keyRefusal(caller)) return []
    if (parameter === 'project') return work.projects().filter((name) => name.startsWith(start))
    const snapshots = await Promise.all(work.projects().map((name) => work.snapshots.current(name)))
    return snapshots
      .flatMap((snapshot) => snapshot.stories().map(({ item }) => item.id))
      .filter((id) => id.startsWith(start))
      .slice(0, maxCompletions)
  },
})
