/** A selection as in the configuration, in tools and in the store. */
export type SelectionFields = {
  readonly tools?: readonly string[] | undefined
  readonly exclude?: readonly string[] | undefined
  readonly read_only?: boolean | undefined
}

/** Formats a selection for people, such as `files, work; without delete_file; read only`. */
export const describeSelection = ({
  tools = ['core'],
  exclude = [],
  read_only,
}: SelectionFields): string =>
  [
    tools.join(', '),
    ...(exclude.length > 0 ? [`without ${exclude.join(', ')}`] : []),
    ...(read_only ? ['read only'] : []),
  ].join('; ')
