import { isAbsolute, join } from 'node:path'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { Call } from '#base/tool.ts'
import { listInside, readInside, readTextInside } from './disk/confined-read.ts'
import type { Work } from './service.ts'
import type { RegisteredProject } from './yaml/registry.ts'

export type Guidance = { readonly name: string; readonly from: string; readonly text: string }
export type GuidanceError = { readonly name: string; readonly message: string }

type ProjectGuidance = NonNullable<NonNullable<RegisteredProject['guidance']>['project']>[number]

/** Inherited by projects that do not list others. */
const defaultGuidance = ['general', 'ai-collaboration']
const maxTextBytes = 256_000

/**
 * Loads foundational guidance, then the project's own, which replaces texts of the same name (W19).
 */
export async function loadGuidance(
  { root, guarded }: Pick<Work, 'root' | 'guarded'>,
  call: Pick<Call, 'caller' | 'signal' | 'addDetails'>,
  name?: string,
  project?: RegisteredProject,
): Promise<{ readonly texts: readonly Guidance[]; readonly faults: readonly GuidanceError[] }> {
  const texts = new Map<string, Guidance>()
  const faults: GuidanceError[] = []
  const {
    inherit = project ? defaultGuidance : listFoundational(root.folder),
    project: projectGuidance = [],
  } = project?.guidance ?? {}
  const addError = (of: string, error: unknown) =>
    faults.push({ name: of, message: errorMessage(error) })
  for (const name of inherit)
    try {
      const isName = /^[\w.-]+$/.test(name)
      const text = isName
        ? readTextInside(root.folder, `guidance/${name}.md`, maxTextBytes)
        : undefined
      if (text === undefined) throw new Error(`Guidance not found: ${JSON.stringify(name)}.`)
      texts.set(name, { name, from: 'foundational', text })
    } catch (error) {
      addError(name, error)
    }
  for (const one of projectGuidance)
    try {
      const text = await readProjectText(one)
      const inherited = texts.get(one.name)?.text
      const isAppended = one.mode === 'append' && inherited !== undefined
      const merged = isAppended ? `${inherited}\n\n${text}` : text
      texts.set(one.name, { name: one.name, from: 'project', text: merged })
    } catch (error) {
      addError(one.name, error)
    }
  return { texts: [...texts.values()], faults }

  /**
   * Reads project guidance. A person who registers a repository allows agents to read its guidance.
   * A repository registered by an agent is read with the access of the caller, so that naming a
   * file never grants access to it.
   */
  async function readProjectText({ source, path }: ProjectGuidance): Promise<string> {
    checkInside(path)
    if (source === 'data')
      return readInside(root.folder, `projects/${name}/${path}`, maxTextBytes).toString('utf8')
    const { repo, registered_by: agent } = project ?? {}
    if (!repo) throw new CoworkError('path_outside_repo', 'The project has no repository.')
    return agent === undefined || agent === null
      ? guarded.read(repo, path, maxTextBytes)
      : guarded.readAs(call, join(repo, path), maxTextBytes)
  }
}

const listFoundational = (folder: string): string[] =>
  listInside(folder, 'guidance')
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -'.md'.length))
    .sort()

/** The reader refuses symbolic links that leave the repository. */
function checkInside(path: string): void {
  if (!isAbsolute(path) && !path.split(/[\\/]/).includes('..')) return
  throw new CoworkError('path_outside_repo', `${JSON.stringify(path)} is outside the repository.`)
}
