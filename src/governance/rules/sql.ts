import { unknownValue } from './decoded.ts'
import type { Decoded, Pair } from './decoded.ts'

/** How much SQL of one change is read, in characters: texts beyond it count as unreadable. */
export const maxSqlLength = 64 * 1024

const verbs = /\b(?:update|insert|replace|delete|drop|alter|truncate|create)\b/i
const verbWords = new Set('update insert replace delete drop alter truncate create'.split(' '))

/** A first look, since nearly all texts are no SQL: each verb has a second word beside it. */
const mayBeSql = (text: string): boolean =>
  verbs.test(text) &&
  ((text.includes('=') && /\b(?:set|key)\b/i.test(text)) ||
    /\b(?:into|values|from|select)\b/i.test(text) ||
    /\b(?:table|view|database|schema|trigger|function|procedure)\b/i.test(text))

type Token = { readonly kind: 'word' | 'text' | 'number' | 'sign'; readonly text: string }

// One alternative per token, none of which can backtrack: the scan is linear. `/*!` runs in MySQL.
const tokenPattern =
  /(?<skip>\s+|--[^\n]*|#[^\n]*|\/\*(?!!)(?:[^*]|\*(?!\/))*(?:\*\/|$))|(?<text>'(?:[^'\\]|''|\\.)*(?:'|$))|(?<quoted>"[^"]*"|`[^`]*`)|(?<number>\d+(?:\.\d+)?)|(?<word>[\p{L}_][\p{L}\p{N}_]*)|(?<sign>[\s\S])/gu

function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  for (const { groups = {} } of text.matchAll(tokenPattern)) {
    const { text: literal, quoted, number, word, sign } = groups
    if (literal !== undefined)
      tokens.push({ kind: 'text', text: literal.slice(1).replace(/'$/, '').replaceAll("''", "'") })
    else if (quoted !== undefined) tokens.push({ kind: 'word', text: quoted.slice(1, -1) })
    else if (number !== undefined) tokens.push({ kind: 'number', text: number })
    else if (word !== undefined) tokens.push({ kind: 'word', text: word })
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign })
  }
  return tokens
}

/** Returns the columns that SQL in a text writes; undefined where the text holds no such statement. */
export function decodeSql(text: string, budget: { left: number }): Decoded | undefined {
  if (!mayBeSql(text)) return undefined
  budget.left -= text.length
  if (budget.left < 0) return unreadable
  const tokens = tokenize(text)
  const found = tokens.flatMap(({ kind, text: word }, at) =>
    kind === 'word' && verbWords.has(word.toLowerCase()) ? (statementAt(tokens, at) ?? []) : [],
  )
  if (found.length === 0) return undefined
  return {
    pairs: found.flatMap(({ pairs }) => pairs),
    isUnreadable: found.some(({ isUnreadable }) => isUnreadable),
  }
}

const unreadable: Decoded = { pairs: [], isUnreadable: true }

function statementAt(tokens: readonly Token[], at: number): Decoded | undefined {
  const cursor = createCursor(tokens, at)
  if (cursor.takeWord('update')) return updateAt(cursor, tokens[at - 1])
  if (cursor.takeWord('insert') || cursor.takeWord('replace')) return insertAt(cursor)
  const isFirst = at === 0 || tokens[at - 1]?.text === ';'
  if (cursor.takeWord('delete'))
    return cursor.takeWord('from') && cursor.takeName() && cursor.endsWith(['where', 'using'])
      ? unreadable
      : undefined
  if (isFirst && cursor.takeWord('drop', 'alter', 'truncate', 'create')) return definitionAt(cursor)
  return undefined
}

function updateAt(cursor: Cursor, before: Token | undefined): Decoded | undefined {
  // `ON DUPLICATE KEY UPDATE a = 1` has no SET.
  if (before?.text.toLowerCase() === 'key') return assignmentsAt(cursor)
  if (cursor.takeWord('or')) cursor.takeName()
  cursor.takeWord('only')
  if (!cursor.isWord('set') && !cursor.takeName()) return undefined
  cursor.takeSign('*')
  if (!cursor.isWord('set')) {
    cursor.takeWord('as')
    cursor.takeName()
  }
  return cursor.takeWord('set') ? assignmentsAt(cursor) : undefined
}

function insertAt(cursor: Cursor): Decoded | undefined {
  if (cursor.takeWord('or')) cursor.takeName()
  cursor.takeWord('ignore')
  const isInto = cursor.takeWord('into')
  if (isInto && !cursor.takeName()) return undefined
  if (isInto && cursor.takeWord('set')) return assignmentsAt(cursor)
  const columns = cursor.takeNameList()
  if (!columns) {
    const isInsert = cursor.takeWord('values', 'value', 'select', 'default') && isInto
    return isInsert ? unreadable : undefined
  }
  if (!cursor.takeWord('values', 'value'))
    return isInto || cursor.isWord('select')
      ? { pairs: columns.map((name): Pair => [name, unknownValue]), isUnreadable: false }
      : undefined
  const rows: Decoded[] = []
  while (cursor.takeSign('(')) {
    const values = cursor.takeExpressions()
    rows.push({
      pairs: columns.map((name, place): Pair => [name, values.at(place)?.value ?? unknownValue]),
      isUnreadable: values.some(({ isUnreadable }) => isUnreadable),
    })
    cursor.takeSign(')')
    cursor.takeSign(',')
  }
  return {
    pairs: rows.flatMap(({ pairs }) => pairs),
    isUnreadable: rows.length === 0 || rows.some(({ isUnreadable }) => isUnreadable),
  }
}

const definitions = ['table', 'view', 'database', 'schema', 'trigger', 'function', 'procedure']
const definitionEnds = ['add', 'drop', 'rename', 'alter', 'modify', 'set', 'cascade', 'before']

function definitionAt(cursor: Cursor): Decoded | undefined {
  if (cursor.takeWord('or')) cursor.takeWord('replace')
  if (!cursor.takeWord(...definitions)) return undefined
  while (cursor.takeWord('if', 'not', 'exists')) continue
  return cursor.takeName() && cursor.endsWith([...definitionEnds, 'after', 'as', 'on', 'returns'])
    ? unreadable
    : undefined
}

/** `a = 1, t.b = 'x', (c, d) = (1, 2)`; undefined where the first is no assignment: a sentence, no SQL. */
function assignmentsAt(cursor: Cursor): Decoded | undefined {
  const pairs: Pair[] = []
  let isUnreadable = false
  do {
    const names = cursor.takeNameList()
    const name = names ? undefined : cursor.takeName()
    cursor.takeSign(':')
    if ((!names && name === undefined) || !cursor.takeSign('=')) {
      if (pairs.length === 0) return undefined
      return { pairs, isUnreadable: true }
    }
    const result = cursor.takeExpression()
    isUnreadable ||= result.isUnreadable
    if (names) pairs.push(...names.map((one): Pair => [one, unknownValue]))
    else if (name !== undefined) pairs.push([name, result.value])
  } while (cursor.takeSign(','))
  return { pairs, isUnreadable }
}

const clauseWords = ['where', 'from', 'returning', 'on', 'when', 'order', 'limit', 'output']
const constants = new Map<string, unknown>([
  ['null', null],
  ['true', true],
  ['false', false],
])

type Expression = { readonly value: unknown; readonly isUnreadable: boolean }
type Cursor = ReturnType<typeof createCursor>

function createCursor(tokens: readonly Token[], start: number) {
  let at = start
  const isSign = (sign: string) => tokens[at]?.kind === 'sign' && tokens[at]?.text === sign
  const wordHere = () => {
    const token = tokens[at]
    return token?.kind === 'word' ? token.text.toLowerCase() : undefined
  }

  function takeSign(sign: string): boolean {
    const is = isSign(sign)
    if (is) at++
    return is
  }
  function takeWord(...words: readonly string[]): boolean {
    const is = words.includes(wordHere() ?? '')
    if (is) at++
    return is
  }
  /** One part of a name: a word, or a word in brackets (`[stage]`, `['stage']`). */
  function takePart(): string | undefined {
    const token = tokens[at]
    if (token?.kind === 'word') {
      at++
      return token.text
    }
    const inside = tokens[at + 1]
    const isBracketed = isSign('[') && inside && tokens[at + 2]?.text === ']'
    if (!isBracketed) return undefined
    at += 3
    return inside.text
  }
  /** A column or a table: `stage`, `public.deals`, `data['stage']`. */
  function takeName(): string | undefined {
    const first = takePart()
    if (first === undefined) return undefined
    const parts = [first]
    while (isSign('.') || isSign('[')) {
      takeSign('.')
      const next = takePart()
      if (next === undefined) break
      parts.push(next)
    }
    return parts.join('.')
  }
  /** `(a, b)`; undefined, with nothing taken, for anything else. */
  function takeNameList(): string[] | undefined {
    const before = at
    const names: string[] = []
    if (takeSign('(')) {
      do {
        const name = takeName()
        if (name === undefined) break
        names.push(name)
      } while (takeSign(','))
      if (names.length > 0 && takeSign(')')) return names
    }
    at = before
    return undefined
  }
  const isEnd = () =>
    at >= tokens.length ||
    isSign(',') ||
    isSign(')') ||
    isSign(';') ||
    clauseWords.includes(wordHere() ?? '')

  /** A literal, or an expression whose value only the database knows. */
  function takeExpression(): Expression {
    const isNegative = takeSign('-')
    const first = tokens[at]
    const start = at
    let depth = 0
    let hasText = false
    while (at < tokens.length && (depth > 0 || !isEnd())) {
      const token = tokens[at]
      if (token?.kind === 'sign') depth += token.text === '(' ? 1 : token.text === ')' ? -1 : 0
      hasText ||= token?.kind === 'text'
      at++
    }
    const literal = at - start === 1 && first ? literalOf(first, isNegative) : undefined
    // A text inside a function may name a field: `jsonb_set(data, '{stage}', …)`.
    return literal ?? { value: unknownValue, isUnreadable: hasText }
  }
  function takeExpressions(): Expression[] {
    const expressions: Expression[] = []
    do expressions.push(takeExpression())
    while (takeSign(','))
    return expressions
  }

  return {
    takeSign,
    takeWord,
    takeName,
    takeNameList,
    takeExpression,
    takeExpressions,
    isWord: (word: string) => wordHere() === word,
    /** Whether the statement ends here, or goes on as SQL does and a sentence does not. */
    endsWith: (words: readonly string[]) =>
      at >= tokens.length || isSign(';') || isSign('(') || words.includes(wordHere() ?? ''),
  }
}

function literalOf({ kind, text }: Token, isNegative: boolean): Expression | undefined {
  if (kind === 'text') return { value: text, isUnreadable: false }
  if (kind === 'number')
    return { value: isNegative ? -Number(text) : Number(text), isUnreadable: false }
  const constant = kind === 'word' ? constants.get(text.toLowerCase()) : undefined
  return constant === undefined ? undefined : { value: constant, isUnreadable: false }
}
