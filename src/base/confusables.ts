/**
 * Characters that people take for one another (UTS 39). The table holds the letters of other scripts that look like
 * ASCII ones, and signs that look like those names are made of. NFKC has already folded what it folds: full-width
 * letters, Roman numerals, the one-dot leader.
 */

/** Pairs of what is seen and all that look like it, as they are before their case is folded. */
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

const mapOf = (table: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(table).flatMap(([seen, like]) => Array.from(like, (char) => [char, seen])))

const [fromUpper, fromLower] = [mapOf(upper), mapOf(lower)]

const mapped = (text: string, map: ReadonlyMap<string, string>): string =>
  Array.from(text, (char) => map.get(char) ?? char).join('')

/**
 * Two texts that people cannot tell apart have the same skeleton. `1`, `l` and `i`, `0` and `o`, `rn` and `m` count; a
 * mark that makes no letter of its own together with its ASCII letter does not.
 */
export const toSkeleton = (text: string): string =>
  toAscii(text)
    .replaceAll(/[1i|]/g, 'l')
    .replaceAll('0', 'o')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')

/** Most names are ASCII: mapping each of their letters took 30 µs. */
const toAscii = (text: string): string =>
  /^[ -~]*$/.test(text)
    ? text.toLowerCase()
    : mapped(
        mapped(text.normalize('NFKC'), fromUpper).toLowerCase().normalize('NFKC'),
        fromLower,
      ).replaceAll(/([a-z\d])\p{M}+/gu, '$1')

const latin = /\p{Script=Latin}/u
const likeLatin =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Lisu}]/u

/** Whether a text mixes Latin letters with those of a script that has the same shapes: nobody spells so. */
export const mixesScripts = (text: string): boolean => latin.test(text) && likeLatin.test(text)
