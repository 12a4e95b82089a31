import * as z from 'zod'
import { checkReferences } from './cross-checks.ts'
import { storage } from './storage.ts'
import { modules } from '../../app/modules.ts'

type Declared<T> = T extends { readonly config: infer Sections } ? Sections : never
type All<T> = (T extends unknown ? (part: T) => void : never) extends (all: infer A) => void
  ? A
  : never
type Sections = { storage: typeof storage } & All<Declared<(typeof modules)[number]>>

/**
 * The schema of cowork.yaml. Each module declares its sections (0040). The descriptions are the manual: meaning, unit,
 * default. Code uses the keys as written in the file, so that a search for a key finds the code.
 */
const sections = Object.assign(
  { storage },
  ...modules.map((module) => ('config' in module ? module.config : {})),
) as Sections

export const configSchema = z.strictObject(sections).superRefine(checkReferences)

type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T

export type Config = Frozen<z.output<typeof configSchema>>

/** Builds the JSON Schema for editors: put `# yaml-language-server: $schema=…/config.schema.json` at the top of cowork.yaml. */
export function configJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(configSchema, {
    target: 'draft-2020-12',
    io: 'input',
    reused: 'inline',
  })
  return { $schema, $id: 'urn:cowork:config', title: 'cowork.yaml', ...schema }
}
