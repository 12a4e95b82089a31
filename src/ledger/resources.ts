import type { Caller } from '#base/caller.ts'
import type { ResourceSource } from '#base/resource.ts'
import type { Entry } from './model.ts'
import type { Ledger } from './service.ts'
import { visibilityFilter, isVisibleTo } from './search.ts'

const headUri = 'ledger://head'
const entryUri = /^ledger:\/\/entry\/([1-9]\d{0,14})$/
const json = 'application/json'
const maxListed = 50
const maxCompletions = 1000
/** Debounce: every call appends to the ledger, and subscribers do not need a notification for each. */
const notifyDelayMs = 1000

/** The ledger as MCP resources: entries by seq, and the head. An agent sees only its own entries (L10, SV13). */
export function ledgerResources(ledger: Ledger): ResourceSource {
  const newest = (caller: Caller, limit: number) =>
    ledger.find({ ...visibilityFilter(caller), newestFirst: true, limit })

  return {
    prefix: 'ledger://',
    tool: 'cowork_audit_trail',
    templates: [
      {
        uriTemplate: 'ledger://entry/{seq}',
        name: 'ledger-entry',
        title: 'Ledger entry',
        description: 'One ledger entry by its seq',
        mimeType: json,
      },
    ],
    async list(caller) {
      const entries = await newest(caller, maxListed)
      return [
        { uri: headUri, name: 'ledger-head', title: 'Ledger head', mimeType: json },
        ...entries.map((entry) => ({
          uri: `ledger://entry/${entry.seq}`,
          name: `entry-${entry.seq}`,
          title: formatTitle(entry),
          mimeType: json,
        })),
      ]
    },
    async read(caller, uri) {
      if (uri === headUri) {
        const [size, checkpoint] = await Promise.all([ledger.size(), ledger.latestCheckpoint()])
        return { mimeType: json, text: JSON.stringify({ size, checkpoint, vkey: ledger.vkey }) }
      }
      const [, seq] = entryUri.exec(uri) ?? []
      const record = seq === undefined ? undefined : await ledger.entry(Number(seq))
      if (!record || !isVisibleTo(caller, record.entry)) return undefined
      const { entry, hash, payload } = record
      return { mimeType: json, text: JSON.stringify({ entry, hash, payload }) }
    },
    async complete(caller, parameter, start) {
      if (parameter !== 'seq') return []
      const entries = await newest(caller, maxCompletions)
      return entries.map(({ seq }) => String(seq)).filter((seq) => seq.startsWith(start))
    },
    watched: [headUri],
    onChange(listener) {
      let timer: NodeJS.Timeout | undefined
      const notify = () => {
        timer = undefined
        listener(headUri)
      }
      const stop = ledger.onAppend(() => {
        timer ??= setTimeout(notify, notifyDelayMs).unref()
      })
      return () => {
        stop()
        clearTimeout(timer)
      }
    },
  }
}

function formatTitle({ seq, type, actor, subject, data }: Entry): string {
  const tool = data?.['tool']
  const about = [typeof tool === 'string' ? tool : undefined, subject]
  return [`${seq} ${type} by ${actor.id}`, ...about.filter(Boolean)].join(' · ')
}
