type Words<S extends string> = S extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : S

/** Splits a list of names; the type keeps each name as a literal. */
export const splitWords = <S extends string>(text: S) => text.split(' ') as Words<S>[]
