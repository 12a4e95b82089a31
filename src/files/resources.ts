import { relative, sep } from 'node:path'
import { matchesGlob } from '#base/glob.ts'
import type { Caller } from '#base/caller.ts'
import { CoworkError } from '#base/errors.ts'
import type { ResourceContent, ResourceSource } from '#base/resource.ts'
import type { Grants } from './grants/service.ts'
import type { Files } from './service.ts'

const workspacePrefix = 'workspace:///'
const grantsUri = 'cowork://grants'
const json = 'application/json'
const maxListed = 20
const maxCompletions = 200
const pollIntervalMs = 1000

/** Calls a tool for the reader: resources access files only through tools (SV13). Returns undefined if refused. */
export type CallTool = (
  caller: Caller,
  tool: string,
  args: Readonly<Record<string, unknown>>,
) => Promise<Readonly<Record<string, unknown>> | undefined>

type Deps = {
  readonly files: Files
  readonly grants: Pick<Grants, 'onChange'>
  readonly call: CallTool
}

export const fileResources = ({ files, grants, call }: Deps): ResourceSource[] => [
  workspaceSource(files, call),
  {
    prefix: grantsUri,
    templates: [],
    list: () =>
      Promise.resolve([{ uri: grantsUri, name: 'grants', title: 'Grants', mimeType: json }]),
    async read(caller, uri) {
      const found = uri === grantsUri ? await call(caller, 'list_grants', {}) : undefined
      return found && { mimeType: json, text: JSON.stringify(found) }
    },
    watched: [grantsUri],
    onChange: (listener) => grants.onChange(() => listener(grantsUri)),
  },
]

function workspaceSource(files: Files, call: CallTool): ResourceSource {
  const { workspace, store, db } = files
  const watch = createWatch(files)

  return {
    prefix: workspacePrefix,
    templates: [
      {
        uriTemplate: `${workspacePrefix}{+path}`,
        name: 'workspace-file',
        title: 'Workspace file',
        description: 'A workspace file by path',
      },
    ],
    async list(caller) {
      // Listing is a call: halts apply and the ledger records it (FT8).
      const may = canRead(caller) && (await call(caller, 'list_files', { path: '', limit: 1 }))
      if (!may) return []
      const newest = await store.listNewestMade(db, workspace.path, maxListed)
      return newest
        .map(({ path }) => relative(workspace.path, path))
        .map((path) => ({ uri: toUri(path), name: path, title: path }))
    },
    async read(caller, uri) {
      const path = parseWorkspaceUri(uri)
      if (path === undefined) return undefined
      const max_bytes = files.limits.maxFileBytes
      const read = await call(caller, 'read_file', { path, max_bytes })
      return read && toResourceContent(read)
    },
    async complete(caller, parameter, start) {
      if (parameter !== 'path' || !canRead(caller)) return []
      const folder = start.slice(0, start.lastIndexOf('/') + 1)
      const listed = await call(caller, 'list_files', { path: folder, limit: maxCompletions })
      const entries = (listed?.['files'] ?? []) as readonly { readonly name: string }[]
      return entries.map(({ name }) => `${folder}${name}`).filter((path) => path.startsWith(start))
    },
    async watch(caller, uri) {
      const path = parseWorkspaceUri(uri)
      // Watching is a call as well.
      const may = path && canRead(caller) && (await call(caller, 'check_grant', { path }))
      return may ? watch.add(uri, path) : undefined
    },
    onChange: watch.onChange,
  }
}

type WatchedFile = { readonly uri: string; readonly path: string; state: string }

/** Polls each watched file every second; only few files are watched. */
function createWatch({ stat }: Files) {
  const watched = new Set<WatchedFile>()
  const listeners = new Set<(uri: string) => void>()
  let timer: NodeJS.Timeout | undefined
  let isPolling = false

  /** Returns undefined if the file is not accessible or a read fails. */
  async function readState(path: string): Promise<string | undefined> {
    try {
      const found = await stat(path)
      return found ? `${found.size} ${found.modifiedAt}` : 'missing'
    } catch (error) {
      if (error instanceof CoworkError) return undefined
      throw error
    }
  }

  async function poll(): Promise<void> {
    if (isPolling) return
    isPolling = true
    const changed = new Set<string>()
    for (const one of watched) {
      const state = (await readState(one.path)) ?? one.state
      if (state !== one.state) changed.add(one.uri)
      one.state = state
    }
    isPolling = false
    for (const uri of changed) for (const listener of listeners) listener(uri)
  }

  return {
    async add(uri: string, path: string): Promise<(() => void) | undefined> {
      const state = await readState(path)
      if (state === undefined) return undefined
      const one = { uri, path, state }
      watched.add(one)
      timer ??= setInterval(() => void poll(), pollIntervalMs).unref()
      return () => {
        watched.delete(one)
        if (watched.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
    onChange(listener: (uri: string) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Whether the caller has the scope of `read_file` (I11); file names need it as well. */
const canRead = ({ kind, scopes }: Caller) =>
  kind !== 'agent' || scopes.some((scope) => matchesGlob(scope, 'read:files'))

const toUri = (path: string) => workspacePrefix + path.split(sep).map(encodeURIComponent).join('/')

/** Returns undefined for a path outside the workspace: granted files have no URI here. */
function parseWorkspaceUri(uri: string): string | undefined {
  try {
    const path = decodeURIComponent(uri.slice(workspacePrefix.length))
    return /^[/\\~]/.test(path) ? undefined : path
  } catch {
    return undefined
  }
}

function toResourceContent(read: Readonly<Record<string, unknown>>): ResourceContent {
  const { mime, content, encoding, warnings, next_byte } = read
  const mimeType = String(mime)
  const whole = typeof content === 'string' ? content : ''
  const notes = [
    ...((warnings as readonly string[] | undefined) ?? []),
    ...(typeof next_byte === 'number'
      ? [`Truncated. Continue with read_file and byte_from ${next_byte}.`]
      : []),
  ]
  return encoding === 'base64' ? { mimeType, notes, blob: whole } : { mimeType, notes, text: whole }
}
