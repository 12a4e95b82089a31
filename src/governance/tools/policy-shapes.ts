import * as z from 'zod'
import { rfc3339 } from '#base/clock.ts'
import type { PolicyBody } from '../policies/body.ts'
import type { Version } from '../policies/versions.ts'
import { text } from './words.ts'
import { policyRow } from '../wire/policies.ts'

/** What the tools of policies take and give alike. */

export const shownVersion = ({ version, number, source, by, note, at }: Version) => ({
  version,
  number,
  source: source === 'saved' ? ('saved' as const) : ('file' as const),
  by,
  note,
  at: rfc3339(at),
})

export const shownBody = ({ policies, mappings }: PolicyBody) => ({
  policies: policies.map((policy) => ({ ...policy })),
  mappings: mappings.map((mapping) => ({ ...mapping })),
})

/** What a person wrote is judged by the words of cowork.yaml, not by a schema of its own. */
export const bodyInput = z
  .union([z.string().max(1_000_000), policyRow])
  .describe('The sections policies and mappings as in cowork.yaml: YAML as text, or their values')

export const versionName = text(64).min(1)
