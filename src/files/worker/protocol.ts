/** What the daemon asks of the file worker, and what the worker answers. Both sides import it. */
import type { Containment, FileErrorCode } from '../model.ts'

/** One tree or file that the worker may touch. It is pinned when the worker starts. */
export type Root = {
  /** A grant's id, or `workspace`, `trash`, `versions`. */
  readonly key: string
  readonly path: string
  readonly kind: 'file' | 'folder'
  /** What must be found there; the workspace and the worker's own stores have none. */
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

/** What no grant lifts: `rules/guard.ts` makes a matcher of it, in the daemon and in the worker alike. */
export type GuardSettings = {
  readonly home: string
  /** Absolute paths closed with all that is below: the core of PV4, cowork's own state, and config's. */
  readonly forbidden: readonly string[]
  /** Folders inside a forbidden one that are open all the same: the system's temporary folders in /var. */
  readonly except: readonly string[]
  /** Absolute paths that may be read and not written (work data, vault, `.cowork` of the workspace). */
  readonly readOnly: readonly string[]
  readonly sensitive: readonly string[]
  readonly forbiddenExtensions: readonly {
    readonly extension: string
    readonly unless_in?: string
  }[]
  readonly workspace: string
}

/** A path below a root; empty for the root itself, and for a root that is a file. */
export type RootedPath = {
  readonly root: string
  readonly path: string
  /**
   * Folders and files below the root, relative to it and without links, that this caller may not use so:
   * denied, or under a narrower grant (GR6). A walk that comes to one, also by a link, answers `no_grant`;
   * lists and searches leave it out.
   */
  readonly closed?: readonly string[]
  /** Files that are denied to this caller by whatever name: a second one may lie here, where those are allowed. */
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
  /** Relative to where was asked, with `/` between names. */
  readonly path: string
  readonly type: Stat['type']
  readonly size: number
  readonly modifiedAt: number
  /** By which a list goes on after it, where its path would not tell it from others. */
  readonly cursor?: string
}

/**
 * What a list found, in columns: a thousand entries are read in 30 µs so, and in 250 as objects. `columns.ts`
 * makes and reads them.
 */
export type Columns = {
  readonly paths: readonly string[]
  readonly types: string
  /** Of those that have one, by their number. */
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

/** Files that a search by content did not look into, all for one reason. */
export type Skipped = {
  readonly why: 'document' | 'sensitive' | 'too_large' | 'unreadable'
  readonly count: number
  readonly first: readonly Pick<SearchHit, 'root' | 'path'>[]
}

/** A file or folder, whatever its name; `confine/inode.ts` makes and compares it. */
export type Inode = {
  /** As decimal text, all of them. */
  readonly dev: string
  readonly ino: string
  /** When it was made, in nanoseconds: numbers are given anew. Nothing where the disk does not say, or was not asked. */
  readonly born?: string | null
}

/** The previous content of a file, kept under its hash (TR3). */
export type StoredVersion = {
  readonly sha256: string
  readonly size: number
  readonly mode: number
  /** The file that had it, and the one that the worker made and put in its place; none where it was written in place. */
  readonly swap?: { readonly from: Inode; readonly to: Inode }
}

/** Of writes: `reviewed` where a person or trust was asked because of the path (F5, PV5). */
type WriteOptions = { readonly reviewed?: boolean }

/** `before` only where something was changed. The diff is empty where nothing is, and left out where it cannot be shown. */
export type Replaced = {
  readonly stat: Stat
  /** Where it lies after links, relative to the root. */
  readonly real: string
  readonly sha256: string
  readonly before?: StoredVersion
  readonly backup?: string
  readonly diff?: string
}

/**
 * By what it is seen that a change was made: this very file stands there, or one of this content. `file` is its
 * inode and the time it was last written. Of what is copied and then removed nothing stands at `gone` any more.
 */
type ResultFingerprint = { readonly at: RootedPath; readonly gone?: RootedPath } & (
  | { readonly file: string }
  | { readonly sha256: string }
)

/** What a change is about to come to: said before it is made, for whoever has to find out without its worker. */
export type ExpectedResult = { readonly sign: ResultFingerprint; readonly answer: object }

/** Every operation: its question beside its answer. A `body` travels as bytes after the head. */
export type Ops = {
  /** `identity` changes with inode, size and time of the last change (A15). */
  stat: { ask: { at: RootedPath }; answer: { stat: Stat; real: string; identity: string } }
  /**
   * Roots of files that others were put in the place of, by the worker itself: they are for those now. `left` are
   * those that the wall around this process may keep it from.
   */
  repin: { ask: { roots: readonly Root[] }; answer: { left: readonly string[] } }
  /** Whether a change was made whose worker cannot say it any more. */
  seen: { ask: ResultFingerprint; answer: { isSeen: boolean } }
  read: {
    ask: {
      at: RootedPath
      range?: Range
      maxBytes: number
      raw?: boolean
      /** What is no text is given whole, up to so many bytes. */
      maxWhole?: number
    }
    answer: {
      stat: Stat
      /** `text` is UTF-8 in the body whatever it was on disk; the others are bytes as they are. */
      kind: 'text' | 'image' | 'audio' | 'document' | 'binary'
      encoding: string
      mime: string
      /** The first byte (or line) that was not given, where there is more. */
      next?: number
      /** Lines of the whole file, where they were counted. */
      lines?: number
      /** The byte where the last lines begin, when not all that were asked for fit. */
      before?: number
      /** Of the bytes on disk, when the whole file was read. */
      sha256?: string
      /** Text taken out of a document by us: not what the file holds byte for byte. */
      extracted?: boolean
      sensitive: boolean
    }
  }
  /** The body is the content in UTF-8, or bytes where `encoding` is `binary`. */
  write: {
    ask: WriteOptions & {
      at: RootedPath
      /** `create` never overwrites, `replace` needs a file there, `put` takes both. */
      how: 'create' | 'replace' | 'put'
      /** `keep`: as the file is now (encoding, line endings, byte order mark); UTF-8 for a new one. */
      encoding: 'keep' | 'binary' | (string & {})
      /** Only if the hash of the content still begins with this. */
      expected?: string
      /** Leave a copy beside it as `<name>.bak` (FT4). */
      backup?: boolean
      /** Nothing is changed; the answer is the same. */
      dryRun?: boolean
    }
    answer: Replaced
  }
  edit: {
    ask: Omit<Ops['write']['ask'], 'how' | 'encoding'> & { edits: readonly Edit[] }
    answer: Replaced
  }
  list: {
    ask: {
      at: RootedPath
      recursive: boolean
      depth?: number
      /** The last path of the page before. */
      after?: string
      limit: number
      /** Leave out what .gitignore and the default excludes name (FT3). */
      ignore: boolean
      /** Names and types alone: nothing is asked of each file. */
      bare?: boolean
    }
    /** The body holds sizes and times, where those were asked for. */
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
  /** Both as they lie after links. */
  move: {
    ask: WriteOptions & { from: RootedPath; to: RootedPath }
    answer: { stat: Stat; from: string; to: string }
  }
  copy: {
    ask: WriteOptions & { from: RootedPath; to: RootedPath }
    answer: { stat: Stat; real: string; sha256: string }
  }
  /** Into the trash, under an id, with a record beside it (TR1). */
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
    /** `left` are folders of the trash in which something could not be removed: it is listed no more. */
    answer: { purged: readonly string[]; left: readonly string[] }
  }
  /** What lies in the trash by the records beside it: for finding what no row knows after a crash. */
  trashed: {
    ask: Record<never, never>
    answer: { records: readonly { id: string; record: Readonly<Record<string, unknown>> }[] }
  }
  /** Puts a kept version back in place, the present content kept first. */
  restoreVersion: {
    ask: WriteOptions & { at: RootedPath; sha256: string; mode: number }
    answer: { stat: Stat; real: string; sha256: string; before?: StoredVersion }
  }
  /** The contents that lie in the version store since before a time, so many shards at a time. */
  keptVersions: {
    ask: { before: number; after?: string }
    answer: { sha256: readonly string[]; next?: string }
  }
  dropVersions: { ask: { sha256: readonly string[] }; answer: { bytes: number } }
  /**
   * Notes of files that were being written where they lie when their worker ended, and whose grants are gone. What
   * each was before is in the version store then. Those that are named go first.
   */
  leftNotes: {
    ask: { settled: readonly string[] }
    answer: {
      notes: readonly { name: string; path: string; before: StoredVersion; at: number }[]
    }
  }
  /** A unified diff of two texts: files, or a kept version by its hash. */
  diff: {
    ask: { from: RootedPath | { sha256: string; name: string }; to: RootedPath }
    /** As in `Replaced`; of a file whose name speaks of secrets (PV5) never more than that something differs. */
    answer: { diff?: string; sensitive: boolean }
  }
  /** Files and bytes below, by the folders so far down (treemap, FT7). */
  usage: {
    /** `always` is told of also where there are too many to tell of all. */
    ask: { at: RootedPath; depth: number; always?: readonly string[] }
    answer: {
      files: number
      bytes: number
      folders: readonly { path: string; files: number; bytes: number }[]
      /** Files that lie so far down at most, the largest first. */
      largest: readonly { path: string; bytes: number }[]
    }
  }
  /** Writes a small file of cowork's own below `.cowork/` of the workspace (F6). */
  writeOwn: { ask: { name: string }; answer: { size: number } }
}

type SearchOptions = {
  readonly in: readonly RootedPath[]
  readonly query: string
  /** Extensions with their dot, lower case. */
  readonly types: readonly string[]
  readonly limit: number
  readonly after?: string
}

export type Op = keyof Ops
export type OpRequest<O extends Op> = Ops[O]['ask']
export type OpResponse<O extends Op> = Ops[O]['answer'] & { readonly body?: Buffer }

/** Operations that change nothing, and may be repeated. */
export const readOnlyOps: ReadonlySet<Op> = new Set<Op>([
  'stat',
  'repin',
  'seen',
  'read',
  'list',
  'searchNames',
  'searchContent',
  'trashed',
  'keptVersions',
  'diff',
  'usage',
])

/** Operations that change something at a path: each announces its result before it acts. */
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
  /** It waits before the first thing that anyone could see, until `go` comes or `cancel`. */
  readonly held?: true
  readonly progress?: true
}
export type ProceedHead = { readonly go: number }
export type CancelHead = { readonly cancel: number }
export type ReplyHead =
  | {
      readonly ready: Containment
      readonly missing: readonly { key: string; code: FileErrorCode }[]
    }
  /** Comes before an answer, or instead of one. */
  | { readonly id: number; readonly outlook: ExpectedResult }
  /** Comes any number of times before an answer, where it was asked for. */
  | { readonly id: number; readonly progress: Progress }
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly fault: WorkerErrorBody }

/** Files, entries or bytes, whatever the operation counts; `total` where it is known. */
export type Progress = { readonly done: number; readonly total?: number }

/** Names nothing outside the roots. `path` is what was asked for, relative. */
type WorkerErrorBody = {
  readonly code: FileErrorCode
  readonly message: string
  readonly path?: string
}
