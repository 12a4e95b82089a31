import { readFileSync, statSync } from 'node:fs'
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
import { listWarnings } from './no-effect.ts'
import type { Config } from './schema.ts'
import { configSchema } from './schema.ts'
import { mapMarked, acceptsType } from './schema-lookup.ts'
import type { ConfigPath } from './schema-lookup.ts'
import { parseYaml } from './yaml.ts'

export type LoadOptions = Partial<Folders> & {
  /** The file of `--config`. The default, `cowork.yaml` in the state directory, may be missing. */
  file?: string | undefined
  /** Values from the command line; undefined for an absent flag. */
  flags?: readonly Override[] | undefined
  env?: Environment | undefined
  /** True for `cowork up` and `npm start`: only these read PORT, TRANSPORT and LOG_LEVEL (SV6). */
  forUp?: boolean | undefined
}

export type LoadedConfig = {
  readonly config: Config
  readonly paths: { readonly state: string; readonly config: string; readonly mcpSettings: string }
  /** The file, if it exists, then the variables and flags that override it. */
  readonly sources: readonly string[]
  /** One line for each setting that has no effect in this version (RM4). */
  readonly warnings: readonly string[]
}

/** An invalid setting. For a variable or flag, `file` has its name and there is no line. */
export type ConfigIssue = {
  file: string
  line?: number
  column?: number
  path: string
  message: string
}

/** Loads the configuration: flags > environment > file > defaults (SV5). Throws one error that lists every issue with its position. */
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
    .filter(({ value }) => value !== undefined)
    .map(coerceText)

  const { settings, locate } = validateSettings(path, source ?? '', overrides)
  // A relative path is relative to the folder of the file, or to the working directory for variables and flags.
  const merged = overrides.reduce(
    (input, override) => mergeValues(input, resolvePaths(toNestedValue(override), home, cwd)),
    resolvePaths(settings, home, dirname(path)),
  )
  return {
    config: deepFreeze(resolvePaths(configSchema.parse(merged), home, state)),
    paths: { state, config: path, mcpSettings: mcpSettingsFile(env, folders) },
    sources: [...(source === undefined ? [] : [path]), ...overrides.map(({ origin }) => origin)],
    warnings: listWarnings({ settings, locate, overrides }),
  }
}

/** Returns the settings of the file and their positions. Throws if the file or an override is invalid. */
function validateSettings(file: string, source: string, overrides: readonly Override[]) {
  const yaml = parseYaml(source)
  if (yaml.problems.length > 0)
    throw invalidConfigError(yaml.problems.map((problem) => ({ file, path: '', ...problem })))

  const settings = withoutEmptySections(yaml.value)
  const toFileIssue = ({ path, at, message }: SchemaIssue): ConfigIssue => ({
    file,
    ...yaml.locate(path, at),
    path: formatConfigPath(path),
    message,
  })
  const fileIssues = findSchemaIssues(settings)
  const overrideIssues =
    overrides.length === 0
      ? []
      : findSchemaIssues(
          overrides.reduce(
            (input, override) => mergeValues(input, toNestedValue(override)),
            settings,
          ),
        )
  const problems = [
    ...fileIssues.map(toFileIssue).toSorted(comparePosition),
    ...overrideIssues
      .filter((issue) => !fileIssues.some(({ message }) => message === issue.message))
      .map((issue) => {
        const cause = overrides.findLast(({ path }) =>
          path.every((key, index) => issue.path[index] === key),
        )
        return cause
          ? { file: cause.origin, path: formatConfigPath(issue.path), message: issue.message }
          : toFileIssue(issue)
      }),
  ]
  if (problems.length > 0) throw invalidConfigError(problems)
  const locate = (path: ConfigPath) => `${file}:${yaml.locate(path, 'key').line}`
  return { settings, locate }
}

const comparePosition = (a: ConfigIssue, b: ConfigIssue): number =>
  (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)

const maxFileBytes = 1024 * 1024

function readConfigFile(path: string, isRequired: boolean): string | undefined {
  try {
    const stats = statSync(path)
    if (!stats.isFile()) throw new Error('not a file')
    if (stats.size > maxFileBytes) throw new Error(`larger than ${maxFileBytes} bytes`)
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
    if (isMissing && !isRequired) return undefined
    throw new CoworkError(
      'config_unreadable',
      `Cannot read the configuration ${path}: ${errorMessage(cause)}.`,
      {
        hint: isRequired
          ? 'Check the path of --config.'
          : 'Make the file readable for this user, or move it away to use the defaults.',
        details: { file: path },
        cause,
      },
    )
  }
}

/** Removes empty sections, such as `agents:` with all items commented out. */
function withoutEmptySections(value: unknown): unknown {
  if (value === null || value === undefined) return {}
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, section]) => section !== null))
}

/** Converts the text of a variable or flag to a boolean or a number if the schema has that type. */
function coerceText(override: Override): Override {
  const { path, value } = override
  if (typeof value !== 'string') return override
  if (acceptsType(path, 'boolean') && Object.hasOwn(booleans, value.toLowerCase()))
    return { ...override, value: booleans[value.toLowerCase()] }
  const isNumber = acceptsType(path, 'integer') || acceptsType(path, 'number')
  return isNumber && /^-?\d+(\.\d+)?$/.test(value)
    ? { ...override, value: Number(value) }
    : override
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

const toNestedValue = ({ path, value }: Override): unknown =>
  path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)

function mergeValues(lower: unknown, top: unknown): unknown {
  if (!isRecord(top)) return top
  // `grants` may be a list (File Ops); an override converts it to the object form.
  const base = Array.isArray(lower) ? { entries: lower } : isRecord(lower) ? lower : {}
  const changed = Object.entries(top).map(([key, value]) => [key, mergeValues(base[key], value)])
  return { ...base, ...Object.fromEntries(changed) }
}

function resolvePaths<T>(input: T, home: string, base: string): T {
  const paths = mapMarked('x-path', input, (text) => expandPath(text, home, base))
  return mapMarked('x-secret', paths, (text) =>
    text.startsWith('file:') ? `file:${expandPath(text.slice(5), home, base)}` : text,
  )
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Builds the error for a value that only the running daemon can check, with its position in the file. */
export function settingError(file: string, path: ConfigPath, message: string): CoworkError {
  const { locate } = parseYaml(readConfigFile(file, false) ?? '')
  const key = formatConfigPath(path)
  return invalidConfigError([
    { file, ...locate(path, 'value'), path: key, message: `${key}: ${message}` },
  ])
}

const maxListedIssues = 20

function invalidConfigError(problems: readonly ConfigIssue[]): CoworkError {
  const lines = problems
    .slice(0, maxListedIssues)
    .map(
      ({ file, line, column, message }) =>
        `${line === undefined ? file : `${file}:${line}:${column}`}: ${message}`,
    )
  const more =
    problems.length > maxListedIssues ? [`and ${problems.length - maxListedIssues} more`] : []
  const count = problems.length === 1 ? '1 error' : `${problems.length} errors`
  return new CoworkError(
    'config_invalid',
    [`The configuration has ${count}.`, ...lines, ...more].join('\n'),
    {
      hint: 'Correct these settings and start again; docs/config.schema.json lists every key.',
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
