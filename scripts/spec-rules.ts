// What `npm run spec` counts: the rules of the pages, and the tests and benches that carry their ids.
import { type ESTree, parseSync, Visitor } from 'vite'

export type Rule = { id: string; page: string }
export type Sources = Record<string, string>
export type Page = { page: string; rules: number; done: number; unproved: string[] }

const ruleLine = /^(?:- \*\*([A-Z]{1,2}\d+)\*\*|\| (N\d+) \|)/
const groups = new Set(['describe', 'suite'])
const proveNothing = new Set(['skip', 'todo', 'fails'])

export function rulesOf(pages: Sources): Rule[] {
  const rules = new Map<string, Rule>()
  for (const [page, text] of Object.entries(pages)) {
    for (const line of text.split('\n')) {
      const [, listed, tabled] = ruleLine.exec(line) ?? []
      const id = listed ?? tabled
      if (!id) continue
      const twin = rules.get(id)
      if (twin)
        throw new Error(`${id} stands in ${twin.page} and again in ${page}; ids are unique.`)
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

/** Ids opening the name of a test that runs: `test('L4 …', fn)`, `test.each(…)('L4 …', fn)` and wrappers of the same shape. */
export function testIds(file: string, source: string): string[] {
  const ids: string[] = []
  let skipped = 0
  const isSkippedGroup = (call: ESTree.CallExpression) => {
    const { root, words } = calleeOf(call)
    return groups.has(root) && words.some((word) => proveNothing.has(word))
  }
  new Visitor({
    CallExpression(call) {
      if (isSkippedGroup(call)) skipped++
      const { root, words } = calleeOf(call)
      if (skipped || groups.has(root) || words.some((word) => proveNothing.has(word))) return
      const [name, ...rest] = call.arguments
      if (name && rest.some(isFunction)) ids.push(...leadingIds(textOf(name)))
    },
    'CallExpression:exit'(call) {
      if (isSkippedGroup(call)) skipped--
    },
  }).visit(parseSync(file, source).program)
  return ids
}

/** `test.each(table)(…)` → root `test`, words `each` */
function calleeOf(call: ESTree.CallExpression): { root: string; words: string[] } {
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

function textOf(node: ESTree.Node): string {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : ''
  return node.type === 'TemplateLiteral' ? (node.quasis[0]?.value.cooked ?? '') : ''
}

/** A bench says on its first comment line which figures it measures: `// N6 N7 durable appends a second`. */
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

/** Findings of reviews: tests carry their ids, no page of the rules does. */
const findings = /^R[SMFWCAH]\d+$/

/** Measured goals, which no test asserts: the ids of numbers.md, and those that other pages declare. */
const figures = /^(?:F?N\d+|W40)$/

type Evidence = {
  /** Ids that open the name of a test. */
  tested: Set<string>
  /** Ids that a bench names. */
  benched: Set<string>
  /** Ids with a row in docs/benchmarks.md that falls short. */
  short: Set<string>
}

/** A measured goal is proved by its bench or by a test, unless a committed row falls short; a rule by a test only. */
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
    /** Declared done, and nothing shows it (or no such rule exists). */
    broken: [...done].filter((id) => !known.has(id) || !isProved(id)),
    /** Named by a test or bench and by no page: a slip of the pen. */
    unknown: [...new Set([...tested, ...benched])].filter(
      (id) => !known.has(id) && !findings.test(id),
    ),
  }
}
