/** Nobody sees these: controls, format and bidi characters, unassigned and private ones, fillers. */
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu
/** Most names, and it is found out fast. */
const plain = /^[\x21-\x7e]*$/

/** A name as whoever reads it sees it: what cannot be told apart on a screen is one name. */
export const normalizeVisible = (name: string): string =>
  plain.test(name) ? name : name.normalize('NFKC').replaceAll(unseen, '').trim()

/** Whether a name is what it looks like: nothing unseen in it, and of white space the plain one, inside only. */
export const isVisiblyUnambiguous = (name: string): boolean =>
  plain.test(name) ||
  (name.trim() === name && name.search(unseen) === -1 && !/(?! )\p{Zs}/u.test(name))
