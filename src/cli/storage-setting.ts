import { existsSync, readFileSync } from 'node:fs'
import { isMap, parseDocument } from 'yaml'
import { writeFileAtomic } from '#base/atomic-file.ts'
import { currentFolders, expandPath, resolveReference } from '#base/config/index.ts'
import { isPostgresUrl, isReference } from '#base/config/kinds.ts'
import type { Context } from './context.ts'
import { usage } from './exit.ts'
import type { Place } from './stores.ts'

/** What `storage` says in the configuration; nothing stands for the default. */
export type Setting = { readonly url?: string; readonly path?: string }

/** `sqlite:<path>`, a postgres:// address or a reference to one: where it is, and how the configuration names it. */
export async function targetOf(
  { paths, env }: Context,
  to: string,
): Promise<{ place: Place; setting: Setting }> {
  if (to.startsWith('sqlite:')) {
    const { home, cwd } = currentFolders()
    const path = expandPath(to.slice('sqlite:'.length), home, cwd)
    return { place: { path }, setting: path === paths.store ? {} : { path } }
  }
  const asking = { env, interactive: process.stdin.isTTY }
  const url = isReference(to) ? await resolveReference(to, '--to', asking) : to
  if (!isPostgresUrl(url) || !URL.canParse(url))
    throw usage(
      '--to is neither sqlite:<path> nor a postgres:// address.',
      'A reference to an address, such as env:DATABASE_URL, does as well.',
    )
  return { place: { url }, setting: { url: to } }
}

/** As it may be shown: a password belongs neither on a screen nor, in the open, into a file. */
export function shownSetting({ url, path }: Setting): Setting {
  if (path !== undefined) return { path }
  if (url === undefined) return {}
  return { url: isReference(url) || new URL(url).password === '' ? url : 'env:DATABASE_URL' }
}

/** Changes only `storage`, keeps comments, and the file as it was beside it. */
export function writeSetting(file: string, { url, path }: Setting, stamp: string) {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined
  const document = parseDocument(before ?? '')
  if (!isMap(document.get('storage'))) document.set('storage', document.createNode({}))
  for (const [key, value] of Object.entries({ url, path, driver: undefined }))
    if (value === undefined) document.deleteIn(['storage', key])
    else document.setIn(['storage', key], value)
  const backup = `${file}.${stamp}.bak`
  if (before !== undefined) writeFileAtomic(backup, before)
  writeFileAtomic(file, document.toString({ lineWidth: 0 }))
  return { config: file, ...(before !== undefined && { backup }) }
}
