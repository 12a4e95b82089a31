import type { Caller } from './caller.ts'

/** An MCP resource (SV13). */
type Resource = {
  readonly uri: string
  readonly name: string
  readonly title: string
  /** Absent if it is unknown before a read. */
  readonly mimeType?: string
}

type ResourceTemplate = Omit<Resource, 'uri'> & {
  /** RFC 6570, as in `ledger://entry/{seq}` */
  readonly uriTemplate: string
  readonly description: string
}

/** Text, or bytes in base64. */
export type ResourceContent = {
  readonly mimeType: string
  /** Notes for the reader, outside of the content. */
  readonly notes?: readonly string[]
} & ({ readonly text: string } | { readonly blob: string })

/** The MCP resources of a module, independent of the transport. */
export type ResourceSource = {
  /** The prefix of all of its URIs. */
  readonly prefix: string
  /** The tool that a caller must be allowed to use to read them (SV18). */
  readonly tool?: string
  readonly templates: readonly ResourceTemplate[]
  /** Lists the most useful resources; templates cover the rest. */
  list(caller: Caller): Promise<readonly Resource[]>
  /** Returns undefined if nothing exists that this caller may see. */
  read(caller: Caller, uri: string): Promise<ResourceContent | undefined>
  /** Lists values of a template's parameter with this prefix. */
  complete?(caller: Caller, parameter: string, start: string): Promise<readonly string[]>
  /** The URIs that clients can subscribe to. */
  readonly watched?: readonly string[]
  /**
   * Subscribes to a URI and returns how to unsubscribe, or undefined if this caller cannot subscribe to it.
   */
  watch?(caller: Caller, uri: string): Promise<(() => void) | undefined>
  /** Calls the listener after a change of a watched resource. */
  onChange?(listener: (uri: string) => void): () => void
}
