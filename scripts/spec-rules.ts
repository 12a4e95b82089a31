// Rules of `npm run spec`: the rules of the pages, and the tests and benches with their ids.
import { type ESTree, parseSync, Visitor } from 'vite'

export type Rule = { id: string; page: string }
export type Sources = Record<string, string>
export type Page = { page: string; rules: number; done: number; unproved: string[] }

const ruleLine = /^(?:- \*\*([A-Z]{1,2}\d+)\*\*|\| (N\d+) \|)/
const groups = new Set(['describe', 'suite'])
const proveNothing = new Set(['skip', 'todo', 'fails'])

export function parseRules(pages: Sources): Rule[] {
  const rules = new Map<string, Rule>()
  for (const [page, text] of Object.entries(pages)) {
    for (const line of text.split('\n')) {
      const [, listed, tabled] = ruleLine.exec(line) ?? []
      const id = listed ?? tabled
      if (!id) continue
      const twin = rules.get(id)
      if (twin) throw new Error(`Duplicate id ${id} in ${twin.page} and ${page}.`)
      rules.set(id, { id, page })
    }
  }
  return [...rules.values()]
}

/** `L1 L2 an entry is never changed` → L1, L2 */
export function leadingIds(name: string): string[] {
  const words = name.trim().split(/[\s,:]+/)
  const end = words.findIndex((word) => !/^[A-Z]{1,2}\d+$/.test(word))
  return end === -1 ? words : words.slice(0, end)
}

/** Ids at the start of the name of a test that runs: `test('L4 …', fn)`, `test.each(…)('L4 …', fn)` and similar wrappers. */
export function testIds(file: string, source: string): string[] {
  const ids: string[] = []
  let skipped = 0
  const isSkippedGroup = (call: ESTree.CallExpression) => {
    const { root, words } = getCallee(call)
    return groups.has(root) && words.some((word) => proveNothing.has(word))
  }
  new Visitor({
    CallExpression(call) {
      if (isSkippedGroup(call)) skipped++
      const { root, words } = getCallee(call)
      if (skipped || groups.has(root) || words.some((word) => proveNothing.has(word))) return
      const [name, ...rest] = call.arguments
      if (name && rest.some(isFunction)) ids.push(...leadingIds(getText(name)))
    },
    'CallExpression:exit'(call) {
      if (isSkippedGroup(call)) skipped--
    },
  }).visit(parseSync(file, source).program)
  return ids
}

/** `test.each(table)(…)` → root `test`, words `each` */
function getCallee(call: ESTree.CallExpression): { root: string; words: string[] } {
  const words: string[] = []
  let at: ESTree.Node = call.callee
  for (;;) {
    if (at.type === 'Identifier') return { root: at.name, words }
    if (at.type === 'CallExpression') at = at.callee
    else if (at.type === 'TaggedTemplateExpression') at = at.tag
    else if (at.type === 'MemberExpression') {
      if (at.property.type === 'Identifier') words.push(at.property.name)
      at = at.object
    } else return { root: '', words }
  }
}

const isFunction = (node: ESTree.Node) =>
  node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression'

function getText(node: ESTree.Node): string {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : ''
  return node.type === 'TemplateLiteral' ? (node.quasis[0]?.value.cooked ?? '') : ''
}

/** Ids in the first comment line of a bench: `// N6 N7 durable appends a second`. */
export function benchIds(source: string): string[] {
  const comment = source.split('\n').find((line) => line.startsWith('//'))
  return comment ? leadingIds(comment.slice(2)) : []
}

/** Returns the ids of docs/benchmarks.md with a row that falls short. */
export function shortIds(text: string): Set<string> {
  const rows = text.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  return new Set(rows.filter((row) => row.at(-2) === 'falls short').map(([, id = '']) => id))
}

export function doneIds(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((line) => line !== '')
}

/** Findings of reviews: tests have their ids, but no page of rules. */
const findings = /^R[SMFWCAH]\d+$/

/** Measured goals, which no test asserts: the ids of numbers.md, and those declared on other pages. */
const figures = /^(?:F?N\d+|W40)$/

type Evidence = {
  /** Ids at the start of a test name. */
  tested: Set<string>
  /** Ids that a bench names. */
  benched: Set<string>
  /** Ids with a row in docs/benchmarks.md that falls short. */
  short: Set<string>
}

/** A bench or a test proves a measured goal, unless a committed row falls short; only a test proves a rule. */
export function specReport(rules: Rule[], { tested, benched, short }: Evidence, done: Set<string>) {
  const isProved = (id: string) =>
    !short.has(id) && (tested.has(id) || (figures.test(id) && benched.has(id)))
  const known = new Set(rules.map((rule) => rule.id))
  const pages = new Map<string, Page>()
  for (const { id, page } of rules) {
    const row = pages.get(page) ?? { page, rules: 0, done: 0, unproved: [] }
    pages.set(page, row)
    row.rules++
    if (done.has(id)) row.done++
    if (!isProved(id)) row.unproved.push(id)
  }
  return {
    pages: [...pages.values()],
    /** Declared done, but not proved (or the rule does not exist). */
    broken: [...done].filter((id) => !known.has(id) || !isProved(id)),
    /** Named by a test or bench, but by no page: a typo. */
    unknown: [...new Set([...tested, ...benched])].filter(
      (id) => !known.has(id) && !findings.test(id),
    ),
  }
}
