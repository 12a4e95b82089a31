import * as z from 'zod'
import { checkReferences } from './cross-checks.ts'
import { approvals, notify } from './sections/approvals.ts'
import { cleanup, grants, security, trash, versions, workspace } from './sections/files.ts'
import {
  agents,
  authority,
  feedback,
  handoff,
  mappings,
  policies,
  reasoningSchemas,
  sentry,
  trust,
} from './sections/governance.ts'
import { audit, ledger, server, storage } from './sections/server.ts'
import { jobs, work } from './sections/work.ts'

/**
 * The whole of cowork.yaml. The descriptions are the manual: prose, unit, default. Keys stay as they
 * are written in the file, so that what a person reads there can be searched for in the code.
 */
export const configSchema = z
  .strictObject({
    server,
    storage,
    ledger,
    audit,
    agents,
    policies,
    mappings,
    trust,
    authority,
    handoff,
    feedback,
    sentry,
    reasoning_schemas: reasoningSchemas,
    approvals,
    notify,
    workspace,
    grants,
    security,
    cleanup,
    versions,
    trash,
    work,
    jobs,
  })
  .superRefine(checkReferences)

type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T

export type Config = Frozen<z.output<typeof configSchema>>

/** For editors: put `# yaml-language-server: $schema=…/config.schema.json` at the top of cowork.yaml. */
export function configJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(configSchema, {
    target: 'draft-2020-12',
    io: 'input',
    reused: 'inline',
  })
  return { $schema, $id: 'urn:cowork:config', title: 'cowork.yaml', ...schema }
}
