import { isAbsolute, join } from 'node:path'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { Call } from '#base/tool.ts'
import { namesInside, readInside, textInside } from './disk/confined-read.ts'
import type { Work } from './service.ts'
import type { RegisteredProject } from './yaml/registry.ts'

export type Guidance = { readonly name: string; readonly from: string; readonly text: string }
export type GuidanceFault = { readonly name: string; readonly message: string }

type OwnGuidance = NonNullable<NonNullable<RegisteredProject['guidance']>['project']>[number]

/** Inherited where a project says nothing else. */
const usual = ['general', 'ai-collaboration']
const maxTextBytes = 256_000

/** Foundational guidance first, then the project's own, which replaces what has its name (W19). */
export async function loadGuidance(
  { root, guarded }: Pick<Work, 'root' | 'guarded'>,
  call: Pick<Call, 'caller' | 'signal' | 'addDetails'>,
  name?: string,
  project?: RegisteredProject,
): Promise<{ readonly texts: readonly Guidance[]; readonly faults: readonly GuidanceFault[] }> {
  const found = new Map<string, Guidance>()
  const faults: GuidanceFault[] = []
  const { inherit = project ? usual : foundational(root.folder), project: own = [] } =
    project?.guidance ?? {}
  const fault = (of: string, error: unknown) =>
    faults.push({ name: of, message: errorMessage(error) })
  for (const one of inherit)
    try {
      const isName = /^[\w.-]+$/.test(one)
      const text = isName ? textInside(root.folder, `guidance/${one}.md`, maxTextBytes) : undefined
      if (text === undefined) throw new Error(`There is no guidance ${JSON.stringify(one)}.`)
      found.set(one, { name: one, from: 'foundational', text })
    } catch (error) {
      fault(one, error)
    }
  for (const one of own)
    try {
      const text = await ownText(one)
      const before = found.get(one.name)?.text
      const isMore = one.mode === 'append' && before !== undefined
      const whole = isMore ? `${before}\n\n${text}` : text
      found.set(one.name, { name: one.name, from: 'project', text: whole })
    } catch (error) {
      fault(one.name, error)
    }
  return { texts: [...found.values()], faults }

  /**
   * A person who registers a repository agrees that its guidance is read to agents. What an agent registered is
   * read by the right of whoever asks: naming a file gives nobody access to it.
   */
  async function ownText({ source, path }: OwnGuidance): Promise<string> {
    checkInside(path)
    if (source === 'data')
      return readInside(root.folder, `projects/${name}/${path}`, maxTextBytes).toString('utf8')
    const { repo, registered_by: agent } = project ?? {}
    if (!repo) throw new CoworkError('path_outside_repo', 'The project names no repository.')
    return agent === undefined || agent === null
      ? guarded.read(repo, path, maxTextBytes)
      : guarded.readAs(call, join(repo, path), maxTextBytes)
  }
}

const foundational = (folder: string): string[] =>
  namesInside(folder, 'guidance')
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -'.md'.length))
    .sort()

/** Links that lead out are refused by the reader. */
function checkInside(path: string): void {
  if (!isAbsolute(path) && !path.split(/[\\/]/).includes('..')) return
  throw new CoworkError('path_outside_repo', `${JSON.stringify(path)} leaves the repository.`)
}
