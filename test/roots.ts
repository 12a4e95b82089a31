// Real folders for tests of the file worker: a workspace, a granted folder, and one outside of both.
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { toInode } from '../src/files/confine/inode.ts'
import type { Root, WorkerSetup } from '../src/files/worker/protocol.ts'

export type TestFolders = {
  /** The parent of all the others. */
  readonly top: string
  readonly workspace: string
  readonly granted: string
  /** Under no grant; contains `secret.txt` with the content SECRET. */
  readonly outside: string
  readonly setup: WorkerSetup
  readonly root: (key: string, path: string, overrides?: Partial<Root>) => Root
}

export function testFolders(parent = tmpdir()): TestFolders {
  const top = realpathSync(mkdtempSync(join(parent, 'cowork-roots-')))
  const pathTo = (name: string) => join(top, name)
  for (const name of ['workspace', 'granted', 'outside', 'trash', 'versions'])
    mkdirSync(pathTo(name))
  writeFileSync(join(pathTo('outside'), 'secret.txt'), 'SECRET')
  const stores = ['workspace', 'trash', 'versions'].map((key) => testRoot(key, pathTo(key)))
  return {
    top,
    workspace: pathTo('workspace'),
    granted: pathTo('granted'),
    outside: pathTo('outside'),
    root: testRoot,
    setup: {
      roots: [...stores, pinnedRoot('grant_1', pathTo('granted'))],
      guard: {
        home: pathTo('home'),
        forbidden: [join(pathTo('granted'), 'closed')],
        except: [],
        readOnly: [join(pathTo('workspace'), '.cowork')],
        sensitive: ['**/*.pem'],
        forbiddenExtensions: [{ extension: '.exe' }, { extension: '.sh', unless_in: 'Code/bash/' }],
        workspace: pathTo('workspace'),
      },
      limits: { maxFileBytes: 50 * 1024 ** 2, maxBinaryReadBytes: 10 * 1024 ** 2 },
    },
  }
}

const testRoot = (key: string, path: string, overrides: Partial<Root> = {}): Root => ({
  key,
  path,
  kind: 'folder',
  access: 'read-write',
  hardLinks: false,
  ...overrides,
})

/** A root as a grant creates it: pinned to the current inode. */
export function pinnedRoot(key: string, path: string, overrides: Partial<Root> = {}): Root {
  return testRoot(key, path, { ...toInode(statSync(path, { bigint: true })), ...overrides })
}

/** Writes files by their paths relative to a folder, creating parent folders. */
export function fill(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

/** Counts the open descriptors of this process. */
export const openDescriptors = (): number => readdirSync('/proc/self/fd').length
