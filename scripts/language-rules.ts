// The parts of the language guide (docs/glossary.md) that a script can check: names, and openings and words of texts.
import { parseSync, Visitor } from 'oxc-parser'

export type Finding = { readonly line: number; readonly text: string; readonly rule: string }

export type Exception = { readonly file: RegExp; readonly text: RegExp; readonly reason: string }

const nameRules: readonly [RegExp, string][] = [
  [/^(most|longest|deepest)[A-Z]/, 'name a limit maxX or minX'],
  [/^(told|said|untold|standInLine|outlook|keeper|doorkeeper)$/, 'use the term of the glossary'],
]

const exportRule: [RegExp, string] = [/[a-z](Of|In)$/, 'start a function name with a verb']

const textRules: readonly [RegExp, string][] = [
  [/^(What|Who|Whoever|Of|Whom|Such|Those) /, 'start with the subject'],
  [
    /\b(anew|meanwhile|for good|whatever is|(?<!there )is no (?!longer)|is none|lies|mend|by itself|the door|nobody's)\b/i,
    'use plain words',
  ],
]

/** Checks identifiers, exported functions, comments and strings of a TypeScript or JavaScript file. */
export function checkSource(file: string, source: string): Finding[] {
  const { program, comments, errors } = parseSync(file, source)
  if (errors[0]) throw new Error(`${file} cannot be parsed: ${errors[0].message}`)
  const findings: Finding[] = []
  const lineAt = createLineLookup(source)
  const names = new Set<string>()

  const checkName = (name: string, start: number) => {
    if (names.has(name)) return
    const rule = nameRules.find(([pattern]) => pattern.test(name))?.[1]
    if (rule === undefined) return
    names.add(name)
    findings.push({ line: lineAt(start), text: name, rule })
  }
  const checkExport = (name: string, start: number) => {
    const [pattern, rule] = exportRule
    if (pattern.test(name)) findings.push({ line: lineAt(start), text: name, rule })
  }
  const checkString = (text: string, start: number) => {
    if (text.trim().includes(' ')) findings.push(...checkText(text, lineAt(start)))
  }

  new Visitor({
    Identifier: ({ name, start }) => checkName(name, start),
    ExportNamedDeclaration({ declaration }) {
      if (declaration?.type === 'FunctionDeclaration' && declaration.id)
        checkExport(declaration.id.name, declaration.id.start)
      if (declaration?.type === 'VariableDeclaration')
        for (const { id, init } of declaration.declarations)
          if (id.type === 'Identifier' && init?.type === 'ArrowFunctionExpression')
            checkExport(id.name, id.start)
    },
    Literal({ value, start }) {
      if (typeof value === 'string') checkString(value, start)
    },
    TemplateLiteral({ quasis, start }) {
      checkString(quasis.map(({ value }) => value.cooked).join('…'), start)
    },
    JSXText: ({ value, start }) => checkString(value, start),
  }).visit(program)

  for (const { text, start } of joinLines(comments, source))
    findings.push(...checkText(text, lineAt(start)))
  return findings.toSorted((a, b) => a.line - b.line)
}

/** Checks the prose of a Markdown file, paragraph by paragraph, without code blocks and inline code. */
export function checkMarkdown(source: string): Finding[] {
  const prose = source
    .replace(/^(```|~~~)[\s\S]*?^\1/gm, (block) => block.replace(/[^\n]/g, ''))
    .replace(/`[^`\n]*`/g, 'code')
  return prose.split('\n').flatMap((line, at) => {
    const text = line.replace(/^[\s>#*\-|\d.]*/, '')
    const follows = /\S/.test(prose.split('\n')[at - 1] ?? '') && /^[A-Za-z]/.test(line)
    return checkText(follows ? `… ${text}` : text, at + 1)
  })
}

function checkText(given: string, line: number): Finding[] {
  const text = given.replaceAll(/\s+/g, ' ').trim()
  return textRules
    .filter(([pattern]) => pattern.test(text) && !isQuestion(pattern, text))
    .map(([pattern, rule]) => ({ line, text: excerpt(text, pattern), rule }))
}

/** A question may start with its question word. */
const isQuestion = (pattern: RegExp, text: string): boolean =>
  pattern.source.startsWith('^') && /^[^.]*\?/.test(text)

function excerpt(text: string, pattern: RegExp): string {
  const at = text.search(pattern)
  return text.slice(Math.max(0, at - 30), at + 60)
}

type Comment = { readonly value: string; readonly start: number; readonly end: number }

/** Joins consecutive line comments and removes the marks of block comments. */
function joinLines(comments: readonly Comment[], source: string) {
  const joined: { text: string; start: number; end: number }[] = []
  for (const { value, start, end } of comments) {
    const text = value.replaceAll(/^\s*\*+ ?/gm, '').trim()
    const last = joined.at(-1)
    if (last && /^[ \t]*\n[ \t]*$/.test(source.slice(last.end, start))) {
      last.text += ` ${text}`
      last.end = end
    } else joined.push({ text, start, end })
  }
  return joined
}

function createLineLookup(source: string): (offset: number) => number {
  const starts = [0]
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1))
    starts.push(at + 1)
  return (offset) => starts.findLastIndex((start) => start <= offset) + 1
}
