import type { Caller } from './caller.ts'

/** Something that can be read by its address, beside the tools that act (SV13). */
type Resource = {
  readonly uri: string
  readonly name: string
  readonly title: string
  /** Where it is known before it is read. */
  readonly mimeType?: string
}

type ResourceTemplate = Omit<Resource, 'uri'> & {
  /** RFC 6570, as in `ledger://entry/{seq}` */
  readonly uriTemplate: string
  readonly description: string
}

/** Text as it is, or bytes in base64. */
export type ResourceContent = {
  readonly mimeType: string
  /** What whoever reads it has to know besides. */
  readonly notes?: readonly string[]
} & ({ readonly text: string } | { readonly blob: string })

/** What a domain lets be read. It knows nothing of the door that asks. */
export type ResourceSource = {
  /** Every address that begins so is this source's. */
  readonly prefix: string
  /** Only callers who may use this tool read them (SV18). */
  readonly tool?: string
  readonly templates: readonly ResourceTemplate[]
  /** The few that are most likely wanted; templates lead to the rest. */
  list(caller: Caller): Promise<readonly Resource[]>
  /** Nothing where there is nothing that this caller may see. */
  read(caller: Caller, uri: string): Promise<ResourceContent | undefined>
  /** Values of a template's parameter that begin like this. */
  complete?(caller: Caller, parameter: string, start: string): Promise<readonly string[]>
  /** Addresses whose change can be watched. */
  readonly watched?: readonly string[]
  /**
   * Begins to look after an address, and gives how to end it; nothing for one that this caller cannot watch.
   * What changes from then on is told.
   */
  watch?(caller: Caller, uri: string): Promise<(() => void) | undefined>
  /** Calls back when one of them has changed. */
  onChange?(listener: (uri: string) => void): () => void
}
