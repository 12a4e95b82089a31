/**
 * Confusable characters (UTS 39): letters and signs of other scripts that look like ASCII ones. The tables omit what
 * NFKC folds already: full-width letters, Roman numerals, the one-dot leader.
 */

/** Maps an ASCII letter to the characters that look like it before case folding. */
const upper: Readonly<Record<string, string>> = {
  a: 'ΑАᎪꓮ',
  b: 'ΒВᏴꓐ',
  c: 'СϹᏟꓚ',
  d: 'Ꭰꓓꓒᗞᗪ',
  e: 'ΕЕᎬꓰ',
  f: 'Ϝꓝ',
  g: 'ԌᏀꓖ',
  h: 'ΗНᎻꓧ',
  i: 'ΙІӀ',
  j: 'ЈᎫꓙ',
  k: 'ΚКᏦꓗ',
  l: 'ᏞꓡⅬ',
  m: 'ΜМᎷꓟϺ',
  n: 'Νꓠ',
  o: 'ΟОՕꓳ',
  p: 'ΡРᏢꓑ',
  q: 'Ԛ',
  s: 'ЅՏᏚꓢ',
  t: 'ΤТᎢꓔ',
  u: 'Սꓴ',
  v: 'ѴᏙꓦ',
  w: 'ԜᎳꓪ',
  x: 'ΧХꓫ',
  y: 'ΥҮꓬ',
  z: 'ΖᏃꓜ',
}
const lower: Readonly<Record<string, string>> = {
  a: 'αаɑ',
  b: 'Ььвʙƅ',
  c: 'сϲᴄᥴ',
  d: 'ԁɗ',
  e: 'еεҽєɛ',
  g: 'ɡցɢ',
  h: 'һհнʜ',
  i: 'іιıɩӏ',
  j: 'јϳ',
  k: 'кκĸᴋ',
  l: 'ⅼʟℓ',
  m: 'мᴍ',
  n: 'ոηпɴ',
  o: 'оοօᴏσ',
  p: 'рρᴘ',
  q: 'ԛզ',
  r: 'гᴦʀꭇ',
  s: 'ѕꜱ',
  t: 'тτᴛ',
  u: 'υսᴜʋц',
  v: 'νѵᴠ',
  w: 'ԝᴡѡա',
  x: 'хχ',
  y: 'уүγʏყ',
  z: 'ᴢ',
  '.': '·‧∙۔٠。・',
  '-': '‐‑‒–—―−ー',
  '/': '⁄∕╱',
  ':': '꞉ː∶׃',
  _: 'ˍ﹍',
}

const buildMap = (table: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(table).flatMap(([seen, like]) => Array.from(like, (char) => [char, seen])))

const [fromUpper, fromLower] = [buildMap(upper), buildMap(lower)]

const replaceChars = (text: string, map: ReadonlyMap<string, string>): string =>
  Array.from(text, (char) => map.get(char) ?? char).join('')

/**
 * Returns the skeleton of a text: texts that look alike have the same one. `1`, `l` and `i`, `0` and `o`, `rn` and `m`
 * look alike. A combining mark after an ASCII letter is ignored unless both form a precomposed letter.
 */
export const toSkeleton = (text: string): string =>
  toAscii(text)
    .replaceAll(/[1i|]/g, 'l')
    .replaceAll('0', 'o')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')

/** Folds a text to ASCII. Most names are ASCII and skip the mapping, which takes 30 µs. */
const toAscii = (text: string): string =>
  /^[ -~]*$/.test(text)
    ? text.toLowerCase()
    : replaceChars(
        replaceChars(text.normalize('NFKC'), fromUpper).toLowerCase().normalize('NFKC'),
        fromLower,
      ).replaceAll(/([a-z\d])\p{M}+/gu, '$1')

const latin = /\p{Script=Latin}/u
const likeLatin =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Lisu}]/u

/** Returns whether a text mixes Latin letters with letters of a script that has the same shapes. No language does. */
export const mixesScripts = (text: string): boolean => latin.test(text) && likeLatin.test(text)
