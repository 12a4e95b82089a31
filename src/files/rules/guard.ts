import { sep } from 'node:path'
import { guardedReason } from '#base/guarded-paths.ts'
import type { AccessKind } from '../model.ts'
import type { GuardSettings } from '../worker/protocol.ts'
import { compilePathGlob } from './path-glob.ts'

export type Guard = ReturnType<typeof createGuard>

/**
 * Matches protected paths (PV4), sensitive files (PV5) and files that run later without a call (F5). Pure: it sees
 * names only. The daemon and the worker share it, so that neither allows what the other refuses.
 */
export function createGuard(settings: GuardSettings) {
  const closed = settings.forbidden.map(normalizeNames)
  const open = [settings.workspace, ...settings.except].map(splitPath)
  const readOnly = settings.readOnly.map(normalizeNames)
  const workspace = splitPath(settings.workspace)
  const isSecret = compilePathGlob(
    settings.sensitive.map((pattern) => toAbsoluteGlob(pattern, settings.home)),
    foldCase,
  )
  const extensions = settings.forbiddenExtensions.map(({ extension, unless_in }) => ({
    extension: foldCase(extension),
    ...(unless_in !== undefined && {
      unlessIn: [...workspace, ...splitPath(unless_in)],
      allowedIn: unless_in,
    }),
  }))

  /** A nested path decides: an open folder inside a closed one is open, in its exact spelling only, and vice versa. */
  const isClosed = (abs: string, path: NormalizedPath): boolean => {
    const closedParents = closed.filter((folder) => isBelow(path, folder))
    if (closedParents.length === 0) return false
    const exactPath = { names: splitPath(abs) }
    const openDepths = open
      .filter((folder) => isBelow(exactPath, folder))
      .map(({ length }) => length)
    return closedParents.some(({ length }) => openDepths.every((openDepth) => length >= openDepth))
  }
  /** Sensitive files are read with a warning, written as high risk and never shown in previews. */
  const isSensitive = (abs: string): boolean => listAliases(abs).some(isSecret)
  /** Returns why a write needs approval, as the end of a sentence; undefined for an ordinary file. */
  const guardReason = (abs: string): string | undefined => {
    const { names, withoutStreams } = normalizePath(abs)
    return guardedReason(names) ?? (withoutStreams && guardedReason(withoutStreams))
  }

  return {
    /** Returns an error code if the path is protected for this access, independent of grants. */
    checkForbidden(abs: string, need: AccessKind): 'forbidden_path' | undefined {
      const path = normalizePath(abs)
      const isNamed = path.names.some(isClosedName) || path.withoutStreams?.some(isClosedName)
      if (isNamed || isClosed(abs, path)) return 'forbidden_path'
      const isWrite = need !== 'read'
      return isWrite && readOnly.some((folder) => isBelow(path, folder))
        ? 'forbidden_path'
        : undefined
    },
    /** Returns true if a single name is protected in any folder. */
    isForbiddenName(name: string): boolean {
      if (!closedNameHint.test(name)) return false
      const { names, withoutStreams } = normalizePath(name)
      return names.some(isClosedName) || withoutStreams?.some(isClosedName) === true
    },
    /** Returns true if a protected path is below this folder; otherwise names alone decide. */
    containsForbidden(abs: string): boolean {
      const path = normalizeNames(abs)
      return closed.some((folder) => isBelow({ names: folder }, path))
    },
    isSensitive,
    guardReason,
    /** Returns why trust or a person must approve a write, including sensitive files. */
    riskReason: (abs: string): string | undefined =>
      guardReason(abs) ?? (isSensitive(abs) ? 'it may contain secrets' : undefined),
    /** Returns why a file with this extension cannot be created there, as a sentence. */
    checkExtension(abs: string): string | undefined {
      const { names, withoutStreams = names } = normalizePath(abs)
      const ends = [names.at(-1) ?? '', withoutStreams.at(-1) ?? '']
      for (const { extension, unlessIn, allowedIn } of extensions) {
        if (!ends.some((name) => name.endsWith(extension))) continue
        // Exact spelling: a folder whose name only looks like the allowed one does not count.
        const exactNames = splitPath(abs)
        const isAllowed =
          unlessIn &&
          exactNames.length > unlessIn.length &&
          isBelow({ names: exactNames }, unlessIn)
        if (!isAllowed)
          return allowedIn === undefined
            ? `Files ending in ${extension} cannot be created.`
            : `Files ending in ${extension} can be created only in ${allowedIn} of the workspace.`
      }
      return undefined
    },
  }
}

/**
 * The canonical form of a name across file systems: case, Unicode composition, invisible characters. Upper case comes
 * before lower case, since `ß` and `ſ` then fold like on a case-insensitive disk.
 */
const foldCase = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text)
    ? text.toLowerCase()
    : text
        .normalize('NFKC')
        .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
        .toUpperCase()
        .toLowerCase()
        .normalize('NFKC')

/** The names of a path, and the same names cut at a colon. A rule that matches either form applies. */
type NormalizedPath = {
  readonly names: readonly string[]
  readonly withoutStreams?: readonly string[]
}

/** Matches names that need more than lower-casing. */
const needsNormalizing = /[^ -~]|:|[. ](?:[\\/]|$)/

function normalizePath(path: string): NormalizedPath {
  if (!needsNormalizing.test(path)) return { names: splitPath(path.toLowerCase()) }
  const names = normalizeNames(path)
  return names.some((name) => name.includes(':'))
    ? { names, withoutStreams: names.map(stripStream) }
    : { names }
}

const separator = sep === '\\' ? /[\\/]/ : '/'
const splitPath = (path: string): readonly string[] =>
  path.split(separator).filter((name) => name !== '')

const normalizeNames = (path: string): readonly string[] =>
  splitPath(path).map((name) => trimTrailing(foldCase(name)))

/** Windows ignores trailing dots and spaces. */
const trimTrailing = (name: string): string => name.replace(/[. ]+$/, '') || name

/** Windows treats `x:y` and `x::$DATA` as streams of `x`. */
const stripStream = (name: string): string => trimTrailing(name.replace(/:.*$/s, '')) || name

const isBelow = ({ names, withoutStreams }: NormalizedPath, folder: readonly string[]): boolean =>
  folder.length <= names.length &&
  folder.every((name, index) => names[index] === name || withoutStreams?.[index] === name)

/** A backup contains the previous content of the file. */
const backupSuffix = /(?:\.bak(?:\.\d+)?)+$/i

/** Lists the paths that a pattern is tested against: the path, its stream's file, and the file it is a backup of. */
function listAliases(path: string): readonly string[] {
  const forms = path.includes(':') ? [path, path.replaceAll(/:[^\\/]*/g, '')] : [path]
  return backupSuffix.test(path) || forms.length > 1
    ? [...forms, ...forms.map((form) => form.replace(backupSuffix, ''))]
    : forms
}

/** A pattern without a slash matches names in any folder. */
const toAbsoluteGlob = (pattern: string, home: string): string =>
  pattern.startsWith('~/')
    ? home + pattern.slice(1)
    : pattern.includes('/')
      ? pattern
      : `**/${pattern}`

const closedNames = new Set([
  '.ssh',
  'id_rsa',
  'id_dsa',
  'id_ecdsa',
  'id_ed25519',
  'nativemessaginghosts',
  'native-messaging-hosts',
])
const envExamples = new Set(['.env.example', '.env.sample', '.env.template'])

/** Returns true for an example file and for its backups. */
function isEnvExample(name: string): boolean {
  const original = trimTrailing(name.replace(backupSuffix, ''))
  return envExamples.has(original) || (original !== name && isEnvExample(original))
}

/** A fast filter, because walks check every name: prefixes of closed names, or a character that needs folding. */
const closedNameHint = /^(?:\.ssh|\.env|id_|native|ssh~|env~)|[^ -~]/i

const isClosedName = (name: string): boolean =>
  closedNames.has(name) ||
  (name.startsWith('.env') && !isEnvExample(name)) ||
  // Windows short names.
  /^(ssh|env|id_ed2|native)~\d+$/.test(name)
