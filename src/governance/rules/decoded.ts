export type Pair = readonly [name: string, value: unknown]

export type Decoded = {
  readonly pairs: readonly Pair[]
  /** Some of it writes fields that cannot be found out. */
  readonly isUnreadable: boolean
}

/** The value of a field that is written, but with what is not known: no rule about values allows it. */
export const unknownValue = Symbol('unknown value')
