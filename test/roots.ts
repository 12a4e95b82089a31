// Folders on the real disk for tests of what the file worker does: a workspace, a granted folder, and what is outside.
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { toInode } from '../src/files/confine/inode.ts'
import type { Root, WorkerSetup } from '../src/files/worker/protocol.ts'

export type TestFolders = {
  /** Holds all the others. */
  readonly top: string
  readonly workspace: string
  readonly granted: string
  /** Beside them, under no grant; holds `secret.txt` with the word SECRET. */
  readonly outside: string
  readonly setup: WorkerSetup
  readonly root: (key: string, path: string, more?: Partial<Root>) => Root
}

/** `place` is where they are made: the temporary folder, if nothing is said. */
export function testFolders(place = tmpdir()): TestFolders {
  const top = realpathSync(mkdtempSync(join(place, 'cowork-roots-')))
  const at = (name: string) => join(top, name)
  for (const name of ['workspace', 'granted', 'outside', 'trash', 'versions']) mkdirSync(at(name))
  writeFileSync(join(at('outside'), 'secret.txt'), 'SECRET')
  const stores = ['workspace', 'trash', 'versions'].map((key) => testRoot(key, at(key)))
  return {
    top,
    workspace: at('workspace'),
    granted: at('granted'),
    outside: at('outside'),
    root: testRoot,
    setup: {
      roots: [...stores, pinnedRoot('grant_1', at('granted'))],
      guard: {
        home: at('home'),
        forbidden: [join(at('granted'), 'closed')],
        except: [],
        readOnly: [join(at('workspace'), '.cowork')],
        sensitive: ['**/*.pem'],
        forbiddenExtensions: [{ extension: '.exe' }, { extension: '.sh', unless_in: 'Code/bash/' }],
        workspace: at('workspace'),
      },
      limits: { maxFileBytes: 50 * 1024 ** 2, maxBinaryReadBytes: 10 * 1024 ** 2 },
    },
  }
}

const testRoot = (key: string, path: string, more: Partial<Root> = {}): Root => ({
  key,
  path,
  kind: 'folder',
  access: 'read-write',
  hardLinks: false,
  ...more,
})

/** A root as a grant makes it: pinned to the inode that is there now. */
export function pinnedRoot(key: string, path: string, more: Partial<Root> = {}): Root {
  return testRoot(key, path, { ...toInode(statSync(path, { bigint: true })), ...more })
}

/** Writes files by their paths below a folder, with the folders they need. */
export function fill(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

/** How many descriptors this process has open. */
export const openDescriptors = (): number => readdirSync('/proc/self/fd').length
