import type { Document } from 'yaml'
import { isAlias, isMap, isScalar, isSeq, Lexer, parseDocument } from 'yaml'
import type { ConfigPath } from './schema-lookup.ts'

type Place = { line: number; column: number }
export type ParsedYaml = {
  value: unknown
  problems: (Place & { message: string })[]
  /** Where the value at this path stands, or its key; what is missing stands where its parent does. */
  place(path: ConfigPath, at: 'key' | 'value'): Place
}

// Measured on yaml 2.9: a megabyte of `[]` takes it 10 s and of `? ` minutes, while its lexer needs
// 0.3 s for either. So the lexer looks first, and what no configuration needs is refused before parsing.
const mostTokens = 100_000
const mostNodes = 100_000
const mostAliases = 100
const mostFaults = 100
const deepest = 32
const tooDeep = `nested more than ${deepest} levels deep`

/** Reads YAML from people and strangers: plain values with their places, every fault named, no way to hang. */
export function parseYaml(source: string): ParsedYaml {
  const placeOf = placesIn(source)
  const located = (faults: readonly Fault[]) =>
    faults
      .slice(0, mostFaults)
      .map((it) => ({ ...placeOf(it.offset), message: shorten(it.message) }))
  const broken = (faults: readonly Fault[]): ParsedYaml => ({
    value: undefined,
    problems: located(faults),
    place: () => placeOf(0),
  })
  const hostile = hostileIn(source)
  if (hostile) return broken([hostile])
  const { document, faults } = parsed(source)
  if (faults.length > 0) return broken(faults)
  const { value, spots, refused } = plainValues(document)
  const place: ParsedYaml['place'] = (path, at) => {
    const spot = spots.get(JSON.stringify(path))
    if (spot) return placeOf(spot[at])
    return path.length === 0 ? placeOf(0) : place(path.slice(0, -1), 'key')
  }
  return { value, problems: located(refused), place }
}

type Fault = { offset: number; message: string }
/** Offsets of a value and of the key it belongs to. */
type Spot = { key: number; value: number }

function hostileIn(source: string): Fault | undefined {
  let offset = 0
  let tokens = 0
  let brackets = 0
  let dashes = 0
  for (const token of new Lexer().lex(source)) {
    tokens += 1
    if (token === '[' || token === '{') brackets += 1
    else if (token === ']' || token === '}') brackets -= 1
    else if (token === '-') dashes += 1
    else if (/^\r?\n/.test(token)) dashes = 0
    else if (token === '?')
      return { offset, message: 'a key that starts with ? is not understood here' }
    if (brackets > deepest || dashes > deepest) return { offset, message: tooDeep }
    if (tokens > mostTokens) return { offset, message: `more than ${mostTokens} words and signs` }
    if (!markers.has(token)) offset += token.length
  }
  return undefined
}

// The lexer's own marks for the start of a document, of a scalar and for a broken flow: no text of the file.
const markers = new Set(['\u0002', '\u001F', '\u0018'])

function parsed(source: string): { document: Document.Parsed; faults: Fault[] } {
  const document = parseDocument(source, {
    prettyErrors: false,
    stringKeys: true,
    // Quadratic in the library, 4 s for 24,000 keys; plainValues looks for repeats itself.
    uniqueKeys: false,
    resolveKnownTags: false,
    logLevel: 'error',
  })
  const faults = [...document.errors, ...document.warnings].map(({ pos, message }) => ({
    offset: pos[0],
    message: message.includes('call stack') ? tooDeep : `not valid YAML: ${message}`,
  }))
  return { document, faults }
}

function plainValues(document: Document.Parsed) {
  const spots = new Map<string, Spot>()
  const refused: Fault[] = []
  let nodes = 0
  let aliases = 0
  const refuse = (offset: number, message: string): undefined =>
    void refused.push({ offset, message })

  const visit = (
    node: unknown,
    path: ConfigPath,
    spot: Spot,
    above: readonly unknown[],
  ): unknown => {
    spots.set(JSON.stringify(path), spot)
    nodes += 1
    if (nodes > mostNodes)
      return nodes === mostNodes + 1
        ? refuse(spot.value, `more than ${mostNodes} values`)
        : undefined
    if (above.length > deepest) return refuse(spot.value, tooDeep)
    if (isScalar(node)) return node.value
    if (isAlias(node)) {
      aliases += 1
      if (aliases > mostAliases)
        return aliases === mostAliases + 1
          ? refuse(spot.value, `more than ${mostAliases} aliases`)
          : undefined
      const target = node.resolve(document)
      if (above.includes(target))
        return refuse(spot.value, `the alias *${node.source} contains itself`)
      return visit(target, path, spot, above)
    }
    if (isSeq(node))
      return node.items.map((item, index) => {
        const start = startOf(item) ?? spot.value
        return visit(item, [...path, index], { key: start, value: start }, [...above, node])
      })
    if (!isMap(node)) return null
    const entries = new Map<string, unknown>()
    for (const pair of node.items) {
      const name = isScalar(pair.key) ? String(pair.key.value) : ''
      const key = startOf(pair.key) ?? spot.value
      if (entries.has(name)) refuse(key, `the key ${name} is written twice`)
      else
        entries.set(
          name,
          visit(pair.value, [...path, name], { key, value: startOf(pair.value) ?? key }, [
            ...above,
            node,
          ]),
        )
    }
    return Object.fromEntries(entries)
  }
  return { value: visit(document.contents, [], { key: 0, value: 0 }, []), spots, refused }
}

function startOf(node: unknown): number | undefined {
  return isScalar(node) || isAlias(node) || isMap(node) || isSeq(node) ? node.range?.[0] : undefined
}

function placesIn(source: string): (offset: number) => Place {
  const starts = [0, ...Array.from(source.matchAll(/\n/g), ({ index }) => index + 1)]
  return (offset) => {
    const line = starts.findLastIndex((start) => start <= offset)
    return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 }
  }
}

const shorten = (text: string): string => (text.length > 200 ? `${text.slice(0, 197)}…` : text)
