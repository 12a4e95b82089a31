/** The protocol between the daemon and the file worker. Both sides import it. */
import type { Containment, FileErrorCode } from '../model.ts'

/** A folder or file that the worker may access. It is pinned when the worker starts. */
export type Root = {
  /** A grant's id, or `workspace`, `trash`, `versions`. */
  readonly key: string
  readonly path: string
  readonly kind: 'file' | 'folder'
  /** The expected inode; unset for the workspace and the worker's own stores. */
  readonly dev?: string
  readonly ino?: string
  readonly born?: string | null
  readonly access: 'read' | 'read-write'
  readonly hardLinks: boolean
}

export type WorkerSetup = {
  readonly roots: readonly Root[]
  readonly guard: GuardSettings
  readonly limits: { readonly maxFileBytes: number; readonly maxBinaryReadBytes: number }
}

/** Settings of the guard, whose rules no grant overrides. `rules/guard.ts` compiles them on both sides. */
export type GuardSettings = {
  readonly home: string
  /** Absolute paths that are protected with everything below: the core of PV4, cowork's state, and config's. */
  readonly forbidden: readonly string[]
  /** Open folders inside a protected one: the system's temporary folders in /var. */
  readonly except: readonly string[]
  /** Absolute read-only paths (work data, vault, `.cowork` of the workspace). */
  readonly readOnly: readonly string[]
  readonly sensitive: readonly string[]
  readonly forbiddenExtensions: readonly {
    readonly extension: string
    readonly unless_in?: string
  }[]
  readonly workspace: string
}

/** A path relative to a root; empty for the root itself, and for a root that is a file. */
export type RootedPath = {
  readonly root: string
  readonly path: string
  /**
   * Paths below the root, relative to it and without links, that this caller cannot use: denied, or under a
   * narrower grant (GR6). A walk that reaches one, also through a link, fails with `no_grant`; lists and searches
   * omit it.
   */
  readonly closed?: readonly string[]
  /** Denied files by inode: a hard link to one may be in this root if the grant allows hard links. */
  readonly denied?: readonly Inode[]
}

export type Stat = {
  readonly type: 'file' | 'folder' | 'link' | 'other'
  readonly size: number
  readonly mode: number
  readonly modifiedAt: number
  readonly links: number
}

export type ListEntry = {
  /** Relative to the requested folder, with `/` between names. */
  readonly path: string
  readonly type: Stat['type']
  readonly size: number
  readonly modifiedAt: number
  /** Where the next page starts, if the path alone is ambiguous. */
  readonly cursor?: string
}

/**
 * The entries of a list, in columns: 1,000 entries are decoded in 30 µs, and in 250 µs as objects. See
 * `columns.ts`.
 */
export type Columns = {
  readonly paths: readonly string[]
  readonly types: string
  /** By index, for entries that have a cursor. */
  readonly cursors?: Readonly<Record<number, string>>
}

export type Range =
  | { readonly by: 'bytes'; readonly from: number; readonly to?: number }
  | { readonly by: 'lines'; readonly from: number; readonly to: number }
  | { readonly by: 'head' | 'tail'; readonly lines: number }

export type Edit = { readonly old: string; readonly new: string }

export type SearchHit = {
  readonly root: string
  readonly path: string
  readonly modifiedAt: number
  readonly size: number
  readonly line?: number
  readonly snippet?: string
}

/** Files that a content search did not search, grouped by reason. */
export type Skipped = {
  readonly why: 'document' | 'sensitive' | 'too_large' | 'unreadable'
  readonly count: number
  readonly first: readonly Pick<SearchHit, 'root' | 'path'>[]
}

/** The identity of a file or folder, independent of its name. See `confine/inode.ts`. */
export type Inode = {
  /** All numbers are decimal strings. */
  readonly dev: string
  readonly ino: string
  /** Birth time in nanoseconds, because inode numbers are reused. Null if the file system does not report it. */
  readonly born?: string | null
}

/** The previous content of a file, stored under its hash (TR3). */
export type StoredVersion = {
  readonly sha256: string
  readonly size: number
  readonly mode: number
  /** The inodes before and after an atomic replacement; unset if the file was written in place. */
  readonly swap?: { readonly from: Inode; readonly to: Inode }
}

/** `reviewed`: a person or trust has approved the path (F5, PV5). */
type WriteOptions = { readonly reviewed?: boolean }

/** `before` is set only if the content changed. The diff is empty if nothing changed, and unset if it cannot be shown. */
export type Replaced = {
  readonly stat: Stat
  /** The path after links, relative to the root. */
  readonly real: string
  readonly sha256: string
  readonly before?: StoredVersion
  readonly backup?: string
  readonly diff?: string
}

/**
 * Evidence that a change was made: this file, or a file with this content, is at the path. `file` is its inode and
 * modification time. `removed` is the source of a move across disks, which must not exist any more.
 */
type ResultFingerprint = { readonly at: RootedPath; readonly removed?: RootedPath } & (
  | { readonly file: string }
  | { readonly sha256: string }
)

/** The result of a change, announced before it is made, so that the daemon can verify it if the worker dies. */
export type ExpectedResult = { readonly fingerprint: ResultFingerprint; readonly answer: object }

/** Every operation with its request and response. A `body` travels as bytes after the head. */
export type Ops = {
  /** `identity` changes with the inode, the size and the modification time (A15). */
  stat: { ask: { at: RootedPath }; answer: { stat: Stat; real: string; identity: string } }
  /** Updates the roots of replaced files. `unreachable` are those that Landlock may keep this process from. */
  repin: { ask: { roots: readonly Root[] }; answer: { unreachable: readonly string[] } }
  /** Checks whether a change was made whose worker died. */
  verifyResult: { ask: ResultFingerprint; answer: { isApplied: boolean } }
  read: {
    ask: {
      at: RootedPath
      range?: Range
      maxBytes: number
      raw?: boolean
      /** The maximum size of a non-text file that is read whole. */
      maxBinaryBytes?: number
    }
    answer: {
      stat: Stat
      /** `text` is converted to UTF-8 in the body; the other kinds are unchanged bytes. */
      kind: 'text' | 'image' | 'audio' | 'document' | 'binary'
      encoding: string
      mime: string
      /** The first byte (or line) after the returned part, if there is more. */
      next?: number
      /** The line count of the file, if known. */
      lines?: number
      /** The offset of the first returned line, if not all requested last lines fit. */
      before?: number
      /** The hash of the bytes on disk, if the whole file was read. */
      sha256?: string
      /** The text was extracted from a document. */
      extracted?: boolean
      sensitive: boolean
    }
  }
  /** The body is the content in UTF-8, or raw bytes if `encoding` is `binary`. */
  write: {
    ask: WriteOptions & {
      at: RootedPath
      /** `create` never overwrites, `replace` requires an existing file, `put` accepts both. */
      writeMode: 'create' | 'replace' | 'put'
      /** `keep`: the file's current encoding, line endings and byte order mark; UTF-8 for a new file. */
      encoding: 'keep' | 'binary' | (string & {})
      /** Fails as stale unless the hash of the current content starts with this. */
      expected?: string
      /** Create a backup `<name>.bak` beside the file (FT4). */
      backup?: boolean
      /** Change nothing and return the same answer. */
      dryRun?: boolean
    }
    answer: Replaced
  }
  edit: {
    ask: Omit<Ops['write']['ask'], 'writeMode' | 'encoding'> & { edits: readonly Edit[] }
    answer: Replaced
  }
  list: {
    ask: {
      at: RootedPath
      recursive: boolean
      depth?: number
      /** The cursor of the previous page. */
      after?: string
      limit: number
      /** Omit what .gitignore and the default excludes match (FT3). */
      ignore: boolean
      /** Names and types only, without a stat per file. */
      bare?: boolean
    }
    /** The body holds sizes and times, unless `bare`. */
    answer: { entries: Columns; next?: string }
  }
  searchNames: {
    ask: SearchOptions
    answer: { hits: readonly SearchHit[]; total: number; next?: string }
  }
  searchContent: {
    ask: SearchOptions & { regex?: boolean }
    answer: Ops['searchNames']['answer'] & { skipped: readonly Skipped[] }
  }
  /** `from` and `to` in the answer are paths after links. */
  move: {
    ask: WriteOptions & { from: RootedPath; to: RootedPath }
    answer: { stat: Stat; from: string; to: string }
  }
  copy: {
    ask: WriteOptions & { from: RootedPath; to: RootedPath }
    answer: { stat: Stat; real: string; sha256: string }
  }
  /** Moves to the trash under an id, with a record beside it (TR1). */
  trash: {
    ask: { at: RootedPath; id: string; record: Readonly<Record<string, unknown>> }
    answer: { stat: Stat; real: string; sha256?: string }
  }
  restore: {
    ask: WriteOptions & { id: string; to: RootedPath }
    answer: { stat: Stat; real: string }
  }
  purge: {
    ask: { ids: readonly string[] }
    /** `left` are trash folders of which something could not be removed. They are no longer listed. */
    answer: { purged: readonly string[]; left: readonly string[] }
  }
  /** Lists trash items by their records, to find what has no database row after a crash. */
  listTrash: {
    ask: Record<never, never>
    answer: { records: readonly { id: string; record: Readonly<Record<string, unknown>> }[] }
  }
  /** Restores a stored version after storing the current content. */
  restoreVersion: {
    ask: WriteOptions & { at: RootedPath; sha256: string; mode: number }
    answer: { stat: Stat; real: string; sha256: string; before?: StoredVersion }
  }
  /** Lists contents of the version store older than `before`, some shards per page. */
  listVersions: {
    ask: { before: number; after?: string }
    answer: { sha256: readonly string[]; next?: string }
  }
  deleteVersions: { ask: { sha256: readonly string[] }; answer: { bytes: number } }
  /**
   * Lists journals of in-place writes that a worker did not finish and whose grants are gone, after storing the old
   * contents as versions. Deletes the journals named in `settled` first.
   */
  orphanedJournals: {
    ask: { settled: readonly string[] }
    answer: {
      journals: readonly { name: string; path: string; before: StoredVersion; at: number }[]
    }
  }
  /** A unified diff of two texts: files, or a stored version by its hash. */
  diff: {
    ask: { from: RootedPath | { sha256: string; name: string }; to: RootedPath }
    /** As in `Replaced`; for a sensitive file (PV5) it only shows whether anything differs. */
    answer: { diff?: string; sensitive: boolean }
  }
  /** File counts and sizes by folder up to a depth (treemap, FT7). */
  usage: {
    /** `alwaysInclude` lists folders to report even if there are too many folders. */
    ask: { at: RootedPath; depth: number; alwaysInclude?: readonly string[] }
    answer: {
      files: number
      bytes: number
      folders: readonly { path: string; files: number; bytes: number }[]
      /** Files up to the depth, largest first. */
      largest: readonly { path: string; bytes: number }[]
    }
  }
  /** Writes a small internal file in `.cowork/` of the workspace (F6). */
  writeInternalFile: { ask: { name: string }; answer: { size: number } }
}

type SearchOptions = {
  readonly in: readonly RootedPath[]
  readonly query: string
  /** Lower-case extensions with the dot. */
  readonly types: readonly string[]
  readonly limit: number
  readonly after?: string
}

export type Op = keyof Ops
export type OpRequest<O extends Op> = Ops[O]['ask']
export type OpResponse<O extends Op> = Ops[O]['answer'] & { readonly body?: Buffer }

/** Operations that change nothing and can be retried. */
export const readOnlyOps: ReadonlySet<Op> = new Set<Op>([
  'stat',
  'repin',
  'verifyResult',
  'read',
  'list',
  'searchNames',
  'searchContent',
  'listTrash',
  'listVersions',
  'diff',
  'usage',
])

/** Operations that change a path. Each announces its result before the change. */
export const mutatingOps: ReadonlySet<Op> = new Set<Op>([
  'write',
  'edit',
  'move',
  'copy',
  'trash',
  'restore',
  'restoreVersion',
])

export type RequestHead = {
  readonly id: number
  readonly op: Op
  readonly ask: unknown
  /** The worker waits before the first visible change until `proceed` or `cancel`. */
  readonly deferred?: true
  readonly progress?: true
}
export type ProceedHead = { readonly proceed: number }
export type CancelHead = { readonly cancel: number }
export type ReplyHead =
  | {
      readonly ready: Containment
      readonly missing: readonly { key: string; code: FileErrorCode }[]
    }
  /** Precedes an answer, or replaces it if the worker dies. */
  | { readonly id: number; readonly expected: ExpectedResult }
  /** Sent any number of times before an answer, if requested. */
  | { readonly id: number; readonly progress: Progress }
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly error: WorkerErrorBody }

/** Counts files, entries or bytes, depending on the operation; `total` if known. */
export type Progress = { readonly done: number; readonly total?: number }

/** Names nothing outside of the roots. `path` is the requested relative path. */
type WorkerErrorBody = {
  readonly code: FileErrorCode
  readonly message: string
  readonly path?: string
}
