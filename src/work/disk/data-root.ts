import { existsSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { writeFileAtomic } from '#base/atomic-file.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import { tryLockFile } from '#base/lock.ts'
import type { Log } from '#base/log.ts'
import { guidanceTexts } from '../guidance-texts.ts'
import { isProjectName } from '../rules.ts'
import { workIndexJsonSchema } from '../yaml/schema.ts'
import { folderInside, textInside } from './confined-read.ts'

type Trouble = { readonly message: string; readonly hint: string }

const endOther = 'End the other daemon, or give this one another work.data_root.'
const nameAnother =
  'Name a folder that this account can write to in work.data_root or WORKSYNC_DATA_ROOT, and start again.'

export type DataRoot = ReturnType<typeof openDataRoot>

/** The folder that holds the registry, the guidance and all projects (W1). One daemon at a time (W7). */
export function openDataRoot(folder: string, log: Log) {
  let trouble: Trouble | undefined
  let free: (() => void) | undefined
  try {
    mkdirSync(join(folder, '.cowork'), { recursive: true })
    free = tryLockFile(join(folder, '.cowork', 'lock.db'))
    if (free) setUp(folder)
    else trouble = { message: `Another daemon holds ${folder}.`, hint: endOther }
  } catch (error) {
    trouble = { message: `${folder} cannot be used: ${errorMessage(error)}`, hint: nameAnother }
  }
  if (trouble !== undefined) log.warn('the work data is not in use', { trouble: trouble.message })
  const registryPath = join(folder, 'config.yaml')

  return {
    folder,
    registryPath,
    /** Whether this daemon writes the files. */
    isHolder: free !== undefined && trouble === undefined,
    trouble: () => trouble,
    folderOf: (project: string) => join(folder, 'projects', project),
    holds: (path: string) => path.startsWith(join(realpathSync(folder), sep)),
    readRegistry: () => textInside(folder, 'config.yaml') ?? '',
    writeRegistry: (text: string) => writeFileAtomic(registryPath, text, 0o644),
    registryMark: () => {
      try {
        const { ino, size, mtimeNs, ctimeNs } = statSync(registryPath, { bigint: true })
        return `${ino} ${size} ${mtimeNs} ${ctimeNs}`
      } catch {
        return 'none'
      }
    },
    prepare(project: string): void {
      const own = folderInside(folder, `projects/${project}`)
      for (const part of ['BACKLOG', 'COMPLETE', 'PROMPTS', 'SCHEMA']) folderInside(own, part)
      const schema = `${JSON.stringify(workIndexJsonSchema(), null, 2)}\n`
      const name = 'SCHEMA/work-flow-schema.json'
      if (textInside(own, name) !== schema) writeFileAtomic(join(own, name), schema, 0o644)
    },
    /** Why the folder of a project is not used: as a link it would lead daemon and agents elsewhere. */
    linkFault(project: string): string | undefined {
      const path = `projects/${project}`
      const whole = join(folder, path)
      if (!existsSync(whole) || realpathSync(whole) === join(realpathSync(folder), path))
        return undefined
      return `${whole} is a link, which is not followed.`
    },
    close(): void {
      if (!free) return
      try {
        rmSync(join(folder, '.pid'), { force: true })
      } catch {
        // A folder that nobody may write to any more: the lock tells whether one runs, not this.
      }
      free()
    },
  }
}

export function checkProjectName(name: string): void {
  if (isProjectName(name)) return
  throw new CoworkError(
    'invalid_id',
    `${JSON.stringify(name.slice(0, 100))} is no name of a project.`,
    {
      hint: 'Write it in lower case with letters, digits, dots and dashes, such as my-project.',
    },
  )
}

function setUp(folder: string): void {
  for (const part of ['guidance', 'projects']) folderInside(folder, part)
  // As seed 003 has it: the number of the process, and nothing else. A link there is replaced, not followed.
  writeFileAtomic(join(folder, '.pid'), `${process.pid}\n`, 0o644)
  const registry = join(folder, 'config.yaml')
  if (!existsSync(registry))
    writeFileAtomic(registry, '# Projects of this machine.\nprojects: {}\n', 0o644)
  for (const [name, text] of Object.entries(guidanceTexts)) {
    const path = join(folder, 'guidance', `${name}.md`)
    if (!existsSync(path)) writeFileAtomic(path, text, 0o644)
  }
}
