import { existsSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { writeFileAtomic } from '#base/atomic-file.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import { tryLockFile } from '#base/lock.ts'
import type { Log } from '#base/log.ts'
import { guidanceTexts } from '../guidance-texts.ts'
import { isProjectName } from '../rules.ts'
import { workIndexJsonSchema } from '../yaml/schema.ts'
import { createFolderInside, readTextInside } from './confined-read.ts'

type Outage = { readonly message: string; readonly hint: string }

const otherDaemonHint = 'Stop the other daemon, or set another work.data_root for this one.'
const folderHint =
  'Set work.data_root or WORKSYNC_DATA_ROOT to a folder that this account can write, then restart.'

export type DataRoot = ReturnType<typeof openDataRoot>

/**
 * Opens the folder with the registry, the guidance and all projects (W1). A lock limits it to one
 * daemon (W7).
 */
export function openDataRoot(folder: string, log: Log) {
  let trouble: Outage | undefined
  let releaseLock: (() => void) | undefined
  try {
    mkdirSync(join(folder, '.cowork'), { recursive: true })
    releaseLock = tryLockFile(join(folder, '.cowork', 'lock.db'))
    if (releaseLock) setupFolder(folder)
    else trouble = { message: `Another daemon holds ${folder}.`, hint: otherDaemonHint }
  } catch (error) {
    trouble = { message: `Cannot use ${folder}: ${errorMessage(error)}`, hint: folderHint }
  }
  if (trouble !== undefined) log.warn('data root unavailable', { trouble: trouble.message })
  const registryPath = join(folder, 'config.yaml')

  return {
    folder,
    registryPath,
    /** Whether this daemon writes the files. */
    isHolder: releaseLock !== undefined && trouble === undefined,
    trouble: () => trouble,
    folderOf: (project: string) => join(folder, 'projects', project),
    contains: (path: string) => path.startsWith(join(realpathSync(folder), sep)),
    readRegistry: () => readTextInside(folder, 'config.yaml') ?? '',
    writeRegistry: (text: string) => writeFileAtomic(registryPath, text, 0o644),
    registryFingerprint: () => {
      try {
        const { ino, size, mtimeNs, ctimeNs } = statSync(registryPath, { bigint: true })
        return `${ino} ${size} ${mtimeNs} ${ctimeNs}`
      } catch {
        return 'none'
      }
    },
    createProjectFolders(project: string): void {
      const projectFolder = createFolderInside(folder, `projects/${project}`)
      for (const part of ['BACKLOG', 'COMPLETE', 'PROMPTS', 'SCHEMA'])
        createFolderInside(projectFolder, part)
      const schema = `${JSON.stringify(workIndexJsonSchema(), null, 2)}\n`
      const name = 'SCHEMA/work-flow-schema.json'
      if (readTextInside(projectFolder, name) !== schema)
        writeFileAtomic(join(projectFolder, name), schema, 0o644)
    },
    /**
     * Returns why a project folder is refused: a symbolic link would lead the daemon and agents
     * elsewhere.
     */
    findLinkProblem(project: string): string | undefined {
      const path = `projects/${project}`
      const fullPath = join(folder, path)
      if (!existsSync(fullPath) || realpathSync(fullPath) === join(realpathSync(folder), path))
        return undefined
      return `${fullPath} is a symbolic link; cowork does not follow it.`
    },
    close(): void {
      if (!releaseLock) return
      try {
        rmSync(join(folder, '.pid'), { force: true })
      } catch {
        // The folder may have become read-only. The lock, not this file, shows whether a daemon
        // runs.
      }
      releaseLock()
    },
  }
}

export function checkProjectName(name: string): void {
  if (isProjectName(name)) return
  throw new CoworkError(
    'invalid_id',
    `Invalid project name: ${JSON.stringify(name.slice(0, 100))}.`,
    {
      hint: 'Use lower-case letters, digits, dots and dashes, such as my-project.',
    },
  )
}

function setupFolder(folder: string): void {
  for (const part of ['guidance', 'projects']) createFolderInside(folder, part)
  // Same content as in WorkSync: only the process id. A symbolic link there is replaced, not
  // followed.
  writeFileAtomic(join(folder, '.pid'), `${process.pid}\n`, 0o644)
  const registry = join(folder, 'config.yaml')
  if (!existsSync(registry))
    writeFileAtomic(registry, '# Projects of this machine.\nprojects: {}\n', 0o644)
  for (const [name, text] of Object.entries(guidanceTexts)) {
    const path = join(folder, 'guidance', `${name}.md`)
    if (!existsSync(path)) writeFileAtomic(path, text, 0o644)
  }
}
