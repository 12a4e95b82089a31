import type { Document } from 'yaml'
import { isAlias, isMap, isScalar, isSeq, Lexer, parseDocument } from 'yaml'
import type { ConfigPath } from './schema-lookup.ts'

type Position = { line: number; column: number }
export type ParsedYaml = {
  value: unknown
  problems: (Position & { message: string })[]
  /** Returns the position of the value or key at this path; for a missing one, that of its parent. */
  locate(path: ConfigPath, at: 'key' | 'value'): Position
}

// Measured on yaml 2.9: parsing a megabyte of `[]` takes 10 s and of `? ` minutes; its lexer takes 0.3 s for either. The
// lexer therefore runs first and rejects input that no configuration needs.
const maxTokens = 100_000
const maxNodes = 100_000
const maxAliases = 100
const maxIssues = 100
const maxDepth = 32
const tooDeep = `nested more than ${maxDepth} levels deep`

/** Parses untrusted YAML to plain values with positions. Reports every error and cannot hang. */
export function parseYaml(source: string): ParsedYaml {
  const locateOffset = createLocator(source)
  const toProblems = (issues: readonly YamlIssue[]) =>
    issues
      .slice(0, maxIssues)
      .map(({ offset, message }) => ({ ...locateOffset(offset), message: shorten(message) }))
  const toInvalidResult = (issues: readonly YamlIssue[]): ParsedYaml => ({
    value: undefined,
    problems: toProblems(issues),
    locate: () => locateOffset(0),
  })
  const hostile = findHostileInput(source)
  if (hostile) return toInvalidResult([hostile])
  const { document, issues: syntaxIssues } = parseSource(source)
  if (syntaxIssues.length > 0) return toInvalidResult(syntaxIssues)
  const { value, offsets, issues } = toPlainValues(document)
  const locate: ParsedYaml['locate'] = (path, at) => {
    const node = offsets.get(JSON.stringify(path))
    if (node) return locateOffset(node[at])
    return path.length === 0 ? locateOffset(0) : locate(path.slice(0, -1), 'key')
  }
  return { value, problems: toProblems(issues), locate }
}

type YamlIssue = { offset: number; message: string }
/** Offsets of a value and of its key. */
type NodeOffsets = { key: number; value: number }

function findHostileInput(source: string): YamlIssue | undefined {
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
    else if (token === '?') return { offset, message: 'complex keys (?) are not supported' }
    if (brackets > maxDepth || dashes > maxDepth) return { offset, message: tooDeep }
    if (tokens > maxTokens) return { offset, message: `more than ${maxTokens} tokens` }
    if (!markers.has(token)) offset += token.length
  }
  return undefined
}

// Markers of the lexer for the start of a document, of a scalar and for an invalid flow. They are not text of the file.
const markers = new Set(['\u0002', '\u001F', '\u0018'])

function parseSource(source: string): { document: Document.Parsed; issues: YamlIssue[] } {
  const document = parseDocument(source, {
    prettyErrors: false,
    stringKeys: true,
    // Quadratic in the library, 4 s for 24,000 keys; toPlainValues finds duplicates itself.
    uniqueKeys: false,
    resolveKnownTags: false,
    logLevel: 'error',
  })
  const issues = [...document.errors, ...document.warnings].map(({ pos, message }) => ({
    offset: pos[0],
    message: message.includes('call stack') ? tooDeep : `not valid YAML: ${message}`,
  }))
  return { document, issues }
}

function toPlainValues(document: Document.Parsed) {
  const offsets = new Map<string, NodeOffsets>()
  const issues: YamlIssue[] = []
  let nodes = 0
  let aliases = 0
  const addIssue = (offset: number, message: string): undefined =>
    void issues.push({ offset, message })

  const visit = (
    node: unknown,
    path: ConfigPath,
    spot: NodeOffsets,
    above: readonly unknown[],
  ): unknown => {
    offsets.set(JSON.stringify(path), spot)
    nodes += 1
    if (nodes > maxNodes)
      return nodes === maxNodes + 1
        ? addIssue(spot.value, `more than ${maxNodes} values`)
        : undefined
    if (above.length > maxDepth) return addIssue(spot.value, tooDeep)
    if (isScalar(node)) return node.value
    if (isAlias(node)) {
      aliases += 1
      if (aliases > maxAliases)
        return aliases === maxAliases + 1
          ? addIssue(spot.value, `more than ${maxAliases} aliases`)
          : undefined
      const target = node.resolve(document)
      if (above.includes(target))
        return addIssue(spot.value, `the alias *${node.source} contains itself`)
      return visit(target, path, spot, above)
    }
    if (isSeq(node))
      return node.items.map((item, index) => {
        const start = getStart(item) ?? spot.value
        return visit(item, [...path, index], { key: start, value: start }, [...above, node])
      })
    if (!isMap(node)) return null
    const entries = new Map<string, unknown>()
    for (const pair of node.items) {
      const name = isScalar(pair.key) ? String(pair.key.value) : ''
      const key = getStart(pair.key) ?? spot.value
      if (entries.has(name)) addIssue(key, `duplicate key: ${name}`)
      else
        entries.set(
          name,
          visit(pair.value, [...path, name], { key, value: getStart(pair.value) ?? key }, [
            ...above,
            node,
          ]),
        )
    }
    return Object.fromEntries(entries)
  }
  return { value: visit(document.contents, [], { key: 0, value: 0 }, []), offsets: offsets, issues }
}

function getStart(node: unknown): number | undefined {
  return isScalar(node) || isAlias(node) || isMap(node) || isSeq(node) ? node.range?.[0] : undefined
}

function createLocator(source: string): (offset: number) => Position {
  const starts = [0, ...Array.from(source.matchAll(/\n/g), ({ index }) => index + 1)]
  return (offset) => {
    const line = starts.findLastIndex((start) => start <= offset)
    return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 }
  }
}

const shorten = (text: string): string => (text.length > 200 ? `${text.slice(0, 197)}…` : text)
