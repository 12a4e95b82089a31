type Words<S extends string> = S extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : S

/** A long list of names as one text; the type has each of them. */
export const words = <S extends string>(text: S) => text.split(' ') as Words<S>[]
