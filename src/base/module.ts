import type * as z from 'zod'
import type { ErrorTable } from './errors.ts'

/**
 * The facts about a module that need none of its code (0040). `src/<module>/manifest.ts` holds the value and
 * `src/app/modules.ts` lists the values; commands read the list without loading the modules.
 */
export type Manifest = {
  readonly name: string
  readonly errors: ErrorTable
  /** The sections of `cowork.yaml`, from `src/<module>/config.ts`. */
  readonly config?: Readonly<Record<string, z.ZodType>>
  /** The meaning of each entry type that the module appends to the ledger, for `docs/entries.md`. */
  readonly entries: Readonly<Record<string, string>>
  /**
   * True if the tools of the toolset with the module's name check their own writes by grants or claims. Trust then
   * applies to them only if a mapping says so (Y9).
   */
  readonly guardsWrites?: true
  /** Loads `src/<module>/module.ts`; `src/app/module.ts` has the type of its exports. */
  readonly load?: () => Promise<unknown>
}
