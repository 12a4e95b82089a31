/** Invisible characters: controls, format and bidi characters, unassigned and private ones, fillers. */
const invisible = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu
/** Most names match, and the test is fast. */
const plain = /^[\x21-\x7e]*$/

/** Normalizes a name to what a reader sees: names that look the same on a screen become equal. */
export const normalizeVisible = (name: string): string =>
  plain.test(name) ? name : name.normalize('NFKC').replaceAll(invisible, '').trim()

/** True if a name is exactly what it looks like: no invisible characters, and only plain white space, only inside. */
export const isVisiblyUnambiguous = (name: string): boolean =>
  plain.test(name) ||
  (name.trim() === name && name.search(invisible) === -1 && !/(?! )\p{Zs}/u.test(name))
