import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import { currentFolders, expandPath } from '#base/config/index.ts'
import { CoworkError, messageOf } from '#base/errors.ts'
import type { RegisteredProject } from './yaml/registry.ts'

/** What agents are told about how to work, piece by piece. */
export type Guidance = { readonly name: string; readonly from: string; readonly text: string }
export type GuidanceFault = { readonly name: string; readonly message: string }

/** Inherited where a project says nothing else. */
const usual = ['general', 'ai-collaboration']
const longest = 256_000

/** Foundational guidance first, then the project's own, which replaces what has its name (W19). */
export function guidanceFor(
  folder: string,
  project: RegisteredProject | undefined,
  dataOf: string | undefined,
): { readonly texts: readonly Guidance[]; readonly faults: readonly GuidanceFault[] } {
  const found = new Map<string, Guidance>()
  const faults: GuidanceFault[] = []
  const { inherit = project ? usual : foundational(folder), project: own = [] } =
    project?.guidance ?? {}
  for (const name of inherit) {
    const path = join(folder, 'guidance', `${name}.md`)
    if (!/^[\w.-]+$/.test(name) || !existsSync(path))
      faults.push({ name, message: `There is no guidance ${JSON.stringify(name)}.` })
    else found.set(name, { name, from: 'foundational', text: readText(path) })
  }
  for (const { name, source, path, mode } of own)
    try {
      const base = source === 'data' ? dataOf : project?.repo
      const text = readText(inside(base, path))
      const before = found.get(name)?.text
      const isMore = mode === 'append' && before !== undefined
      found.set(name, { name, from: 'project', text: isMore ? `${before}\n\n${text}` : text })
    } catch (error) {
      faults.push({ name, message: messageOf(error) })
    }
  return { texts: [...found.values()], faults }
}

/** The names of all that the data root has. */
function foundational(folder: string): string[] {
  const path = join(folder, 'guidance')
  if (!existsSync(path)) return []
  return readdirSync(path)
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -'.md'.length))
    .sort()
}

/** A path below a folder, also when links are followed (W19). */
function inside(base: string | null | undefined, path: string): string {
  if (base === undefined || base === null)
    throw new CoworkError('path_outside_repo', 'The project names no repository.')
  const { home, cwd } = currentFolders()
  const root = realpathSync(expandPath(base, home, cwd))
  const wanted = resolve(root, path)
  const isBelow = (one: string) => one.startsWith(root.endsWith(sep) ? root : root + sep)
  if (!isBelow(wanted) || (existsSync(wanted) && !isBelow(realpathSync(wanted))))
    throw new CoworkError('path_outside_repo', `${JSON.stringify(path)} leaves the repository.`)
  return wanted
}

function readText(path: string): string {
  const { size } = statSync(path)
  if (size > longest) throw new CoworkError('too_large', `It is larger than ${longest / 1000} kB.`)
  return readFileSync(path, 'utf8')
}
