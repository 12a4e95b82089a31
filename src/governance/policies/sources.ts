import type { Caller } from '#base/caller.ts'
import type { Reader } from '#base/db/port.ts'
import { isDone, visibleTo } from '#ledger'
import type { Entry, Lookup } from '#ledger'

/** Where a criterion comes from, in a form that the ledger can confirm (R2). */
type Source =
  | { readonly kind: 'ledger'; readonly seq: number; readonly hash: string | undefined }
  | { readonly kind: 'mcp'; readonly server: string; readonly tool: string; readonly call: string }
  | { readonly kind: 'file'; readonly path: string; readonly sha256: string }

const ledgerForm = /^ledger:(\d{1,15})(?:#([0-9a-f]{64}))?$/i
const mcpForm = /^mcp:([^/#]+)\/([^#]+)#([^#]+)$/
const fileForm = /^file:(.+)#(?:sha256[:=-])?([0-9a-f]{64})$/is
const claimsForm = /^(ledger|mcp|file):/i

/** A source of no such form is a remark for people: nobody can check it, and nobody pretends to. */
const isCheckable = (source: string): boolean => claimsForm.test(source)

function sourceOf(text: string): Source | undefined {
  const [, seq, hash] = ledgerForm.exec(text) ?? []
  if (seq !== undefined) return { kind: 'ledger', seq: Number(seq), hash: hash?.toLowerCase() }
  const [, server, tool, call] = mcpForm.exec(text) ?? []
  if (server !== undefined && tool !== undefined && call !== undefined)
    return { kind: 'mcp', server, tool, call }
  const [, path, sha256] = fileForm.exec(text) ?? []
  return path !== undefined && sha256 !== undefined
    ? { kind: 'file', path, sha256: sha256.toLowerCase() }
    : undefined
}

/**
 * Those of these sources that the ledger does not confirm: this agent made that call, it was carried out, it
 * is not older than `since`, and what it saw is what is cited.
 */
export async function unverified(
  lookup: Lookup,
  reader: Reader,
  by: Caller,
  sources: readonly string[],
  since: number,
  guardedToolsets: readonly string[],
): Promise<string[]> {
  // Tools of cowork go by their own names, those of an upstream by `server__name` (U4).
  const ownServers = ['cowork', ...guardedToolsets]
  const asked = [...new Set(sources)].filter(isCheckable)
  const known = asked.map((text) => ({ text, source: sourceOf(text) }))
  const paths = known.flatMap(({ source }) => (source?.kind === 'file' ? [source.path] : []))
  const onFiles = await lookup.recentOn(reader, by.id, [...new Set(paths)])
  const isOwn = (entry: Entry) => isDone(entry) && visibleTo(by, entry) && entry.at >= since

  async function isConfirmed(source: Source | undefined): Promise<boolean> {
    switch (source?.kind) {
      case 'ledger': {
        const found = await lookup.entry(reader, source.seq)
        if (!found || !isOwn(found.entry)) return false
        return source.hash === undefined || source.hash === found.hash
      }
      case 'mcp': {
        const { server, tool, call } = source
        const name = ownServers.includes(server) ? tool : `${server}__${tool}`
        const entries = await lookup.call(reader, call)
        return entries.some((entry) => isOwn(entry) && entry.data?.['tool'] === name)
      }
      case 'file':
        return onFiles.some(
          (entry) =>
            isOwn(entry) &&
            entry.subject === source.path &&
            entry.data?.['sha256'] === source.sha256,
        )
      case undefined:
        return false
    }
  }

  const failed: string[] = []
  // One after the other: they are read in the transaction of the proposal.
  for (const { text, source } of known) if (!(await isConfirmed(source))) failed.push(text)
  return failed
}
