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
const mostListed = 20
const mostCompleted = 200
const lookEvery = 1000

/** Calls a tool for whoever reads: a resource has no way of its own to a file (SV13). Nothing where it is refused. */
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
      Promise.resolve([
        { uri: grantsUri, name: 'grants', title: 'What is granted', mimeType: json },
      ]),
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
        title: 'File of the workspace',
        description: 'A file by its path in the workspace',
      },
    ],
    async list(caller) {
      // Like every look at files it is a call: halts count, and it is on record (FT8).
      const may = mayRead(caller) && (await call(caller, 'list_files', { path: '', limit: 1 }))
      if (!may) return []
      const newest = await store.newest(db, workspace.path, mostListed)
      return newest
        .map(({ path }) => relative(workspace.path, path))
        .map((path) => ({ uri: uriOf(path), name: path, title: path }))
    },
    async read(caller, uri) {
      const path = pathOf(uri)
      if (path === undefined) return undefined
      const max_bytes = files.limits.maxFileBytes
      const read = await call(caller, 'read_file', { path, max_bytes })
      return read && contentOf(read)
    },
    async complete(caller, parameter, start) {
      if (parameter !== 'path' || !mayRead(caller)) return []
      const folder = start.slice(0, start.lastIndexOf('/') + 1)
      const listed = await call(caller, 'list_files', { path: folder, limit: mostCompleted })
      const entries = (listed?.['files'] ?? []) as readonly { readonly name: string }[]
      return entries.map(({ name }) => `${folder}${name}`).filter((path) => path.startsWith(start))
    },
    async watch(caller, uri) {
      const path = pathOf(uri)
      // As with the list: a look at a file is a call.
      const may = path && mayRead(caller) && (await call(caller, 'check_grant', { path }))
      return may ? watch.begin(uri, path) : undefined
    },
    onChange: watch.onChange,
  }
}

type Watched = { readonly uri: string; readonly path: string; state: string }

/** Looks at each watched file every second: honest, and cheap for the few that are. */
function createWatch({ stat }: Files) {
  const watched = new Set<Watched>()
  const listeners = new Set<(uri: string) => void>()
  let timer: NodeJS.Timeout | undefined
  let isLooking = false

  /** Nothing where it may not be seen, or cannot be just now. */
  async function stateOf(path: string): Promise<string | undefined> {
    try {
      const found = await stat(path)
      return found ? `${found.size} ${found.modifiedAt}` : 'not there'
    } catch (error) {
      if (error instanceof CoworkError) return undefined
      throw error
    }
  }

  async function look(): Promise<void> {
    if (isLooking) return
    isLooking = true
    const changed = new Set<string>()
    for (const one of watched) {
      const state = (await stateOf(one.path)) ?? one.state
      if (state !== one.state) changed.add(one.uri)
      one.state = state
    }
    isLooking = false
    for (const uri of changed) for (const tell of listeners) tell(uri)
  }

  return {
    async begin(uri: string, path: string): Promise<(() => void) | undefined> {
      const state = await stateOf(path)
      if (state === undefined) return undefined
      const one = { uri, path, state }
      watched.add(one)
      timer ??= setInterval(() => void look(), lookEvery).unref()
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

/** The scope that read_file asks for (I11); names are as much as contents here. */
const mayRead = ({ kind, scopes }: Caller) =>
  kind !== 'agent' || scopes.some((scope) => matchesGlob(scope, 'read:files'))

const uriOf = (path: string) => workspacePrefix + path.split(sep).map(encodeURIComponent).join('/')

/** Only of the workspace: what is granted has no address here. */
function pathOf(uri: string): string | undefined {
  try {
    const path = decodeURIComponent(uri.slice(workspacePrefix.length))
    return /^[/\\~]/.test(path) ? undefined : path
  } catch {
    return undefined
  }
}

function contentOf(read: Readonly<Record<string, unknown>>): ResourceContent {
  const { mime, content, encoding, warnings, next_byte } = read
  const mimeType = String(mime)
  const whole = typeof content === 'string' ? content : ''
  const notes = [
    ...((warnings as readonly string[] | undefined) ?? []),
    ...(typeof next_byte === 'number'
      ? [`There is more: go on with read_file and byte_from ${next_byte}.`]
      : []),
  ]
  return encoding === 'base64' ? { mimeType, notes, blob: whole } : { mimeType, notes, text: whole }
}
