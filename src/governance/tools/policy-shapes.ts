import * as z from 'zod'
import { rfc3339 } from '#base/clock.ts'
import type { PolicyBody } from '../policies/body.ts'
import type { Version } from '../policies/versions.ts'
import { text } from './words.ts'

/** What the tools of policies take and give alike. */

export const versionShape = z.object({
  version: z.string().describe('Of what it says: the same again has the same'),
  number: z.number().describe('Counts up from 0, the file at the first start'),
  source: z.enum(['file', 'saved']),
  by: z.string(),
  note: z.string(),
  at: z.string(),
})

export const shownVersion = ({ version, number, source, by, note, at }: Version) => ({
  version,
  number,
  source: source === 'saved' ? ('saved' as const) : ('file' as const),
  by,
  note,
  at: rfc3339(at),
})

const row = z.record(z.string(), z.unknown())

export const bodyShape = z.object({ policies: z.array(row), mappings: z.array(row) })

export const shownBody = ({ policies, mappings }: PolicyBody) => ({
  policies: policies.map((policy) => ({ ...policy })),
  mappings: mappings.map((mapping) => ({ ...mapping })),
})

/** What a person wrote is judged by the words of cowork.yaml, not by a schema of its own. */
export const bodyInput = z
  .union([z.string().max(1_000_000), row])
  .describe('The sections policies and mappings as in cowork.yaml: YAML as text, or their values')

export const versionName = text(64).min(1)
