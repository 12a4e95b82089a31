// The allowed imports between the parts of src, and a few rules for each of its files.
import { dirname, join } from 'node:path/posix'
import { parseSync, Visitor } from 'vite'

/** Sources by path from the root of the repository, such as `src/ledger/store.ts`. */
export type Tree = Map<string, string>

const records = ['base', 'ledger', 'identity', 'approvals']

/** The modules and the parts that each may import. A new module is a line here. */
const modules: Record<string, string[]> = {
  ledger: ['base'],
  identity: ['base', 'ledger'],
  approvals: ['base', 'ledger', 'identity'],
  governance: records,
  jobs: records,
  files: [...records, 'jobs'],
  work: [...records, 'jobs'],
  gateway: records,
  dispatch: [...records, 'governance'],
}

/** Each part of src and the parts it may import. Others enter a module by its index only, `#module`. */
export const mayImport: Record<string, string[]> = {
  ...modules,
  base: [],
  server: ['base', ...Object.keys(modules)],
  // The rest of what the command line needs it asks the daemon for.
  cli: ['base', 'ledger', 'identity', 'app', 'wire'],
  // The registry of wire shapes: it imports the wire files of all modules, and nothing else.
  wire: [],
  app: ['base', ...Object.keys(modules), 'server'],
}

/** No domain knows HTTP or MCP: the packages that speak them stay at the edges. */
const edgePackages = [
  { name: /^(hono|@hono\/.*)$/, parts: ['server'] },
  { name: /^@modelcontextprotocol\//, parts: ['server', 'gateway'] },
]

/** Where operators are spoken to, and where the environment is read. */
const consolePlaces = /^src\/(cli\/|base\/log\.ts$)/
const environmentPlaces = /^src\/(cli|base\/config)\//

/**
 * One guard for every file read (PV4): a path that an agent or a work index can name goes through the file worker.
 * Only these may import `node:fs`, each for the reason given.
 */
export const fileSystemPlaces: readonly (readonly [RegExp, string])[] = [
  [/^src\/files\/(worker|ops|confine)\//, 'the file worker itself, confined and guarded'],
  [/^src\/files\/grants\/(pin|people-tools)\.ts$/, 'looks at names and inodes that a person picks'],
  [
    /^src\/files\/grants\/grants-db-mirror\.ts$/,
    'the grants database that the configuration names',
  ],
  [/^src\/files\/guard(ed-files|-settings)\.ts$/, 'resolves links for the guard; reads no content'],
  [
    /^src\/files\/(service|workspace|workspace-choice)\.ts$/,
    'makes and checks the folders of cowork',
  ],
  [/^src\/files\/tools\/setup\.ts$/, 'edits the configuration file, which the owner named'],
  [/^src\/files\/fileops-import\.ts$/, 'two fixed names in the workspace, without following links'],
  [/^src\/gateway\/settings-file\.ts$/, 'the settings of upstream servers, which the owner named'],
  [/^src\/work\/disk\//, 'fixed names below the data root; `inside.ts` follows no link out of it'],
  [/^src\/work\/vault\/sync\.ts$/, 'makes and removes notes that `inside.ts` found in the vault'],
  [/^src\/base\/(atomic-file|state)\.ts$/, 'the state folder'],
  [/^src\/base\/config\//, 'the configuration and the secrets that the owner names in it'],
  [/^src\/base\/db\/sqlite\.ts$/, 'the store'],
  [/^src\/ledger\//, 'the key, the checkpoints, the mirror and the exports of the ledger'],
  [/^src\/server\/(console|listen)\.ts$/, 'the console that was built, and the sockets'],
  [/^src\/app(\/store)?(\.ts)$/, 'the state folder and the backup of the store'],
  [/^src\/cli\//, 'runs as the person at the terminal, never for an agent'],
]
const fileSystemModules = /^(node:)?fs(\/promises)?$/

/** The shapes that leave a module, `src/<module>/wire.ts` with its parts in `wire/`, and the registry of them. */
const wireFile = /^src\/([a-z]+\/wire(\/[a-z-]+)?|wire\/[a-z-]+)\.ts$/
/** A wire file as other parts name it; clients of the daemon may import all of them. */
const wireSpecifier = /^#([a-z]+\/wire\.ts|wire)$/
const wireReaders = ['cli', 'wire']

/** The one file of base that reads the manifests, for the sections of cowork.yaml. */
const configRegistry = 'src/base/config/schema.ts'

const kebabPath = /^src(\/[a-z0-9]+(-[a-z0-9]+)*)+(\.int)?(\.test)?\.ts$/
const isTest = (file: string) => file.endsWith('.test.ts')

type Import = { specifier: string; isType: boolean; isLazy?: boolean }
type Facts = { imports: Import[]; members: Set<string>; hasDefaultExport: boolean }

/** `src/ledger/store.ts` → `ledger`, `src/app.ts` and `src/app/store.ts` → `app` */
function partOf(file: string): string {
  const [, first = ''] = file.split('/')
  return first.replace(/(\.int)?(\.test)?\.ts$/, '')
}

function factsOf(file: string, source: string): Facts {
  const facts: Facts = { imports: [], members: new Set(), hasDefaultExport: false }
  const add = (specifier: string, isType: boolean) => facts.imports.push({ specifier, isType })
  const { program, errors } = parseSync(file, source)
  if (errors[0]) throw new Error(`${file} does not parse: ${errors[0].message}`)
  new Visitor({
    ImportDeclaration: (node) => add(node.source.value, node.importKind === 'type'),
    ExportAllDeclaration: (node) => add(node.source.value, node.exportKind === 'type'),
    ExportNamedDeclaration(node) {
      if (node.source) add(node.source.value, node.exportKind === 'type')
    },
    ImportExpression({ source: from }) {
      if (from.type === 'Literal')
        facts.imports.push({ specifier: String(from.value), isType: false, isLazy: true })
    },
    TSImportType: (node) => add(node.source.value, true),
    ExportDefaultDeclaration() {
      facts.hasDefaultExport = true
    },
    MemberExpression({ object, property }) {
      if (object.type !== 'Identifier') return
      facts.members.add(object.name)
      if (property.type === 'Identifier') facts.members.add(`${object.name}.${property.name}`)
    },
  }).visit(program)
  return facts
}

/** The file of this repository that a specifier means, or undefined for a package. */
function targetOf(file: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return join(dirname(file), specifier)
  if (specifier.startsWith('#base/')) return join('src', specifier.slice(1))
  if (wireSpecifier.test(specifier) && specifier !== '#wire') return `src/${specifier.slice(1)}`
  return specifier.startsWith('#') ? `src/${specifier.slice(1)}/index.ts` : undefined
}

function importFault(file: string, specifier: string): string | undefined {
  const part = partOf(file)
  const target = targetOf(file, specifier)
  if (!target) {
    const edge = edgePackages.find(({ name }) => name.test(specifier))
    if (!edge || edge.parts.includes(part) || isTest(file)) return undefined
    return `only ${edge.parts.join(' and ')} may import it`
  }
  if (!target.startsWith('src/')) {
    return isTest(file) && target.startsWith('test/') ? undefined : 'it is outside src'
  }
  const other = partOf(target)
  if (other === part) return undefined
  if (file === configRegistry && target === 'src/app/modules.ts') return undefined
  const isWire = wireSpecifier.test(specifier)
  if (isWire && wireReaders.includes(part)) return undefined
  if (!mayImport[part]?.includes(other)) return `${part} may not import ${other}`
  // Tables of data, which commands read without loading the modules (0038, 0040).
  if (file === 'src/app/modules.ts' && target === `src/${other}/manifest.ts`) return undefined
  if (target === 'src/app/errors.ts') return undefined
  if (other === 'app') return target === 'src/app.ts' ? undefined : 'enter by src/app.ts'
  const isDoor = specifier === `#${other}` || specifier.startsWith('#base/') || isWire
  return isDoor ? undefined : `enter by #${other}`
}

/** Browsers load wire files, and their compiler reads what they import, also as types. */
function wireFault(tree: Tree, file: string, specifier: string): string | undefined {
  if (!wireFile.test(file) || isTest(file) || specifier === 'zod') return undefined
  const target = targetOf(file, specifier)
  if (target && wireFile.test(target)) return undefined
  const source = target && tree.get(target)
  const isConstants = source !== undefined && factsOf(target ?? '', source).imports.length === 0
  return isConstants ? undefined : 'a wire file imports zod, wire files and plain constants only'
}

/** The imports by which the console reaches into src further than wire files and base. */
export const consoleBreaches = (tree: Tree): string[] =>
  [...tree].flatMap(([file, source]) =>
    factsOf(file, source)
      .imports.filter(({ specifier }) => {
        const target = targetOf(file, specifier)
        const isAllowed = specifier.startsWith('#base/') || (target && wireFile.test(target))
        return target?.startsWith('src/') === true && !isAllowed
      })
      .map(({ specifier }) => `${file}: ${specifier}: the console may import wire files and base`),
  )

/** Every breach, one sentence each, in the order of the files. */
export function breaches(tree: Tree): string[] {
  const found: string[] = []
  for (const [file, source] of tree) {
    const breach = (text: string) => found.push(`${file}: ${text}`)
    const { imports, members, hasDefaultExport } = factsOf(file, source)
    if (!(partOf(file) in mayImport)) breach('its part has no row in the import table')
    if (!kebabPath.test(file)) breach('files and folders are named in kebab-case')
    if (hasDefaultExport) breach('exports are named, never default')
    if (!isTest(file)) {
      if (members.has('console') && !consolePlaces.test(file)) breach('console is for cli and log')
      if (members.has('process.env') && !environmentPlaces.test(file)) {
        breach('the environment is read by the config and the cli')
      }
    }
    const mayTouchFiles = isTest(file) || fileSystemPlaces.some(([place]) => place.test(file))
    const isAround = ['process.binding', 'process.getBuiltinModule'].some((one) => members.has(one))
    if (isAround && !isTest(file)) breach('modules are imported, not looked up')
    for (const { specifier, isType } of imports) {
      if (fileSystemModules.test(specifier) && !isType && !mayTouchFiles)
        breach(`${specifier}: files are read through the file worker (PV4)`)
      const fault = importFault(file, specifier) ?? wireFault(tree, file, specifier)
      if (fault) breach(`${specifier}: ${fault}`)
    }
  }
  return found
}

/** Chains of files that import each other when they run, each once; `import type` leaves no trace at run time. */
export function cycles(tree: Tree): string[] {
  const targets = (file: string, source: string) =>
    factsOf(file, source).imports.flatMap(({ specifier, isType, isLazy }) => {
      const target = targetOf(file, specifier)
      return isType || isLazy || !target || !tree.has(target) ? [] : [target]
    })
  const graph = new Map([...tree].map(([file, source]) => [file, targets(file, source)]))

  const found: string[] = []
  const finished = new Set<string>()
  const walk = (file: string, path: string[]) => {
    const start = path.indexOf(file)
    if (start !== -1) found.push([...path.slice(start), file].join(' → '))
    if (start !== -1 || finished.has(file)) return
    for (const target of graph.get(file) ?? []) walk(target, [...path, file])
    finished.add(file)
  }
  for (const file of graph.keys()) walk(file, [])
  return found
}
