import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { Environment, Folders, Override } from './env.ts'
import {
  currentEnvironment,
  currentFolders,
  expandPath,
  readEnvironmentOverrides,
  mcpSettingsFile,
  stateDirectory,
} from './env.ts'
import type { SchemaIssue } from './schema-issues.ts'
import { formatConfigPath, findSchemaIssues } from './schema-issues.ts'
import { warningsFor } from './no-effect.ts'
import type { Config } from './schema.ts'
import { configSchema } from './schema.ts'
import { mapMarked, acceptsType } from './schema-lookup.ts'
import type { ConfigPath } from './schema-lookup.ts'
import { parseYaml } from './yaml.ts'

export type LoadOptions = Partial<Folders> & {
  /** `--config`; otherwise `cowork.yaml` in the state directory, which may be missing. */
  file?: string | undefined
  /** From the command line; one whose value is undefined was not given. */
  flags?: readonly Override[] | undefined
  env?: Environment | undefined
  /** True for `cowork up` and `npm start`, which alone read PORT, TRANSPORT and LOG_LEVEL (SV6). */
  forUp?: boolean | undefined
}

export type LoadedConfig = {
  readonly config: Config
  readonly paths: { readonly state: string; readonly config: string; readonly mcpSettings: string }
  /** What took part: the file if there is one, then the variables and flags that won over it. */
  readonly sources: readonly string[]
  /** One line for each setting that was given and has no effect in this version (RM4). */
  readonly warnings: readonly string[]
}

/** `file` names the variable or flag when the value did not come from a file; there are no lines then. */
export type ConfigIssue = {
  file: string
  line?: number
  column?: number
  path: string
  message: string
}

/** flags > environment > file > defaults (SV5). Refuses with every problem at once, each at its place. */
export function loadConfig(options: LoadOptions = {}): LoadedConfig {
  const env = options.env ?? currentEnvironment()
  const folders = { ...currentFolders(), ...options }
  const { home, cwd } = folders
  const state = stateDirectory(env, folders)
  const path = options.file ? expandPath(options.file, home, cwd) : join(state, 'cowork.yaml')
  const source = readConfigFile(path, options.file !== undefined)
  const overrides = [
    ...readEnvironmentOverrides(env, { forUp: options.forUp ?? false }),
    ...(options.flags ?? []),
  ]
    .filter((it) => it.value !== undefined)
    .map(typed)

  const { written, place } = checked(path, source ?? '', overrides)
  // A relative path counts from where it was written: the file's folder, or the terminal's.
  const merged = overrides.reduce(
    (input, it) => over(input, absolute(nested(it), home, cwd)),
    absolute(written, home, dirname(path)),
  )
  const mcpSettings = mcpSettingsFile(env, folders)
  const isNamed = Boolean(env['COWORK_MCP_SETTINGS_PATH'])
  return {
    config: deepFreeze(absolute(configSchema.parse(merged), home, state)),
    paths: { state, config: path, mcpSettings },
    sources: [...(source === undefined ? [] : [path]), ...overrides.map((it) => it.origin)],
    warnings: warningsFor({
      env,
      written,
      place,
      overrides,
      mcpSettings: !isNamed && existsSync(mcpSettings) ? mcpSettings : undefined,
    }),
  }
}

/** The settings of the file and their places, once it and all overrides are known to be valid. */
function checked(file: string, source: string, overrides: readonly Override[]) {
  const yaml = parseYaml(source)
  if (yaml.problems.length > 0)
    throw invalid(yaml.problems.map((it) => ({ file, path: '', ...it })))

  const written = withoutEmptySections(yaml.value)
  const inFile = ({ path, at, message }: SchemaIssue): ConfigIssue => ({
    file,
    ...yaml.place(path, at),
    path: formatConfigPath(path),
    message,
  })
  const own = findSchemaIssues(written)
  const onTop =
    overrides.length === 0
      ? []
      : findSchemaIssues(overrides.reduce((input, it) => over(input, nested(it)), written))
  const problems = [
    ...own.map(inFile).toSorted(byPlace),
    ...onTop
      .filter((it) => !own.some((known) => known.message === it.message))
      .map((it) => {
        const cause = overrides.findLast((one) =>
          one.path.every((key, index) => it.path[index] === key),
        )
        return cause
          ? { file: cause.origin, path: formatConfigPath(it.path), message: it.message }
          : inFile(it)
      }),
  ]
  if (problems.length > 0) throw invalid(problems)
  const place = (path: ConfigPath) => `${file}:${yaml.place(path, 'key').line}`
  return { written, place }
}

const byPlace = (a: ConfigIssue, b: ConfigIssue): number =>
  (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)

const largestFile = 1024 * 1024

function readConfigFile(path: string, named: boolean): string | undefined {
  try {
    const about = statSync(path)
    if (!about.isFile()) throw new Error('it is not a file')
    if (about.size > largestFile) throw new Error(`it is larger than ${largestFile} bytes`)
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (cause) {
    const missing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
    if (missing && !named) return undefined
    throw new CoworkError(
      'config_unreadable',
      `Cannot read the configuration ${path}: ${errorMessage(cause)}.`,
      {
        hint: named
          ? 'Check the path given with --config.'
          : 'Make the file readable for this user, or move it away to start with defaults.',
        details: { file: path },
        cause,
      },
    )
  }
}

/** `agents:` with all its items commented out says nothing, so it is as good as not there. */
function withoutEmptySections(value: unknown): unknown {
  if (value === null || value === undefined) return {}
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, section]) => section !== null))
}

/** Variables and flags arrive as text; the schema says what they stand for. */
function typed(it: Override): Override {
  const { path, value } = it
  if (typeof value !== 'string') return it
  if (acceptsType(path, 'boolean') && Object.hasOwn(booleans, value.toLowerCase()))
    return { ...it, value: booleans[value.toLowerCase()] }
  const isNumber = acceptsType(path, 'integer') || acceptsType(path, 'number')
  return isNumber && /^-?\d+(\.\d+)?$/.test(value) ? { ...it, value: Number(value) } : it
}

const booleans: Record<string, boolean> = {
  true: true,
  1: true,
  yes: true,
  on: true,
  false: false,
  0: false,
  no: false,
  off: false,
}

const nested = ({ path, value }: Override): unknown =>
  path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)

function over(under: unknown, top: unknown): unknown {
  if (!isRecord(top)) return top
  // `grants` may be a list (seed 004); a value set beside it turns it into the object form.
  const base = Array.isArray(under) ? { entries: under } : isRecord(under) ? under : {}
  const changed = Object.entries(top).map(([key, value]) => [key, over(base[key], value)])
  return { ...base, ...Object.fromEntries(changed) }
}

function absolute<T>(input: T, home: string, base: string): T {
  const paths = mapMarked('x-path', input, (text) => expandPath(text, home, base))
  return mapMarked('x-secret', paths, (text) =>
    text.startsWith('file:') ? `file:${expandPath(text.slice(5), home, base)}` : text,
  )
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the error for a value that only the running daemon can check, with its place in the file. */
export function refusedSetting(file: string, path: ConfigPath, message: string): CoworkError {
  const { place } = parseYaml(readConfigFile(file, false) ?? '')
  const key = formatConfigPath(path)
  return invalid([{ file, ...place(path, 'value'), path: key, message: `${key}: ${message}` }])
}

const mostShown = 20

function invalid(problems: readonly ConfigIssue[]): CoworkError {
  const lines = problems
    .slice(0, mostShown)
    .map(
      ({ file, line, column, message }) =>
        `${line === undefined ? file : `${file}:${line}:${column}`}: ${message}`,
    )
  const more = problems.length > mostShown ? [`and ${problems.length - mostShown} more`] : []
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  return new CoworkError(
    'config_invalid',
    [`The configuration has ${count}.`, ...lines, ...more].join('\n'),
    {
      hint: 'Correct what is named and start again; docs/config.schema.json lists every key.',
      details: { problems: problems.slice(0, 100) },
    },
  )
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const child of Object.values(value)) deepFreeze(child)
  }
  return value
}
