import { sep } from 'node:path'
import { guardedReason } from '#base/guarded-paths.ts'
import type { AccessKind } from '../model.ts'
import type { GuardSettings } from '../worker/protocol.ts'
import { compilePathGlob } from './path-glob.ts'

export type Guard = ReturnType<typeof createGuard>

/**
 * What no grant lifts (PV4), what is sensitive (PV5) and what runs by itself later (F5). Pure: it sees names only. One
 * matcher for the daemon and the worker, so that neither lets through what the other would refuse.
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
      shown: unless_in,
    }),
  }))

  /** An open folder inside a closed one stays open, as it is spelled; a closed one inside an open one stays closed. */
  const isClosed = (abs: string, path: NormalizedPath): boolean => {
    const around = closed.filter((folder) => isBelow(path, folder))
    if (around.length === 0) return false
    const spelled = { names: splitPath(abs) }
    const opened = open.filter((folder) => isBelow(spelled, folder)).map(({ length }) => length)
    return around.some(({ length }) => opened.every((deep) => length >= deep))
  }
  /** Whether it is read with a warning, written as high risk and never shown in previews. */
  const isSensitive = (abs: string): boolean => listAliases(abs).some(isSecret)
  /** Why writing it is never silent, as the rest of a sentence; undefined for a file like any other. */
  const guardReason = (abs: string): string | undefined => {
    const { names, withoutStreams } = normalizePath(abs)
    return guardedReason(names) ?? (withoutStreams && guardedReason(withoutStreams))
  }

  return {
    /** Whether this absolute path is closed for what is wanted, grant or not. */
    forbidden(abs: string, need: AccessKind): 'forbidden_path' | undefined {
      const path = normalizePath(abs)
      const isNamed = path.names.some(isClosedName) || path.withoutStreams?.some(isClosedName)
      if (isNamed || isClosed(abs, path)) return 'forbidden_path'
      const isWrite = need !== 'read'
      return isWrite && readOnly.some((folder) => isBelow(path, folder))
        ? 'forbidden_path'
        : undefined
    },
    /** Whether one name, met on a walk, is closed wherever it stands. */
    isForbiddenName(name: string): boolean {
      if (!closedNameHint.test(name)) return false
      const { names, withoutStreams } = normalizePath(name)
      return names.some(isClosedName) || withoutStreams?.some(isClosedName) === true
    },
    /** Whether a path is closed somewhere below this folder; where none is, names alone decide. */
    containsForbidden(abs: string): boolean {
      const path = normalizeNames(abs)
      return closed.some((folder) => isBelow({ names: folder }, path))
    },
    isSensitive,
    guardReason: guardReason,
    /** Why trust or a person looks at it first, secrets too. */
    riskReason: (abs: string): string | undefined =>
      guardReason(abs) ?? (isSensitive(abs) ? 'it is for secrets' : undefined),
    /** Why a file of this extension is not made there, as a sentence. */
    extension(abs: string): string | undefined {
      const { names, withoutStreams = names } = normalizePath(abs)
      const ends = [names.at(-1) ?? '', withoutStreams.at(-1) ?? '']
      for (const { extension, unlessIn, shown } of extensions) {
        if (!ends.some((name) => name.endsWith(extension))) continue
        // As it is spelled: in a folder that only looks like that one nobody expects programs.
        const spelled = splitPath(abs)
        const isAllowed =
          unlessIn && spelled.length > unlessIn.length && isBelow({ names: spelled }, unlessIn)
        if (!isAllowed)
          return shown === undefined
            ? `Files that end in ${extension} are not made here.`
            : `Files that end in ${extension} are made only in ${shown} of the workspace.`
      }
      return undefined
    },
  }
}

/**
 * One spelling for all that some disk takes for the same name: case, composed or not, invisible characters.
 * Upper before lower, since `ß` and `ſ` are then the letters that a disk without case takes them for.
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

/** The names of a path, and where one has a colon, the same up to it: a rule that fits either way counts. */
type NormalizedPath = {
  readonly names: readonly string[]
  readonly withoutStreams?: readonly string[]
}

/** What every disk takes as it stands, but for its case. */
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

/** Windows drops dots and spaces at the end. */
const trimTrailing = (name: string): string => name.replace(/[. ]+$/, '') || name

/** And it takes `x:y` and `x::$DATA` for streams of `x`. */
const stripStream = (name: string): string => trimTrailing(name.replace(/:.*$/s, '')) || name

const isBelow = ({ names, withoutStreams }: NormalizedPath, folder: readonly string[]): boolean =>
  folder.length <= names.length &&
  folder.every((name, place) => names[place] === name || withoutStreams?.[place] === name)

/** The copies that an update leaves hold what the file held. */
const backup = /(?:\.bak(?:\.\d+)?)+$/i

/** What a pattern may mean: the path, the file it is a backup of, the file it is a stream of. */
function listAliases(path: string): readonly string[] {
  const forms = path.includes(':') ? [path, path.replaceAll(/:[^\\/]*/g, '')] : [path]
  return backup.test(path) || forms.length > 1
    ? [...forms, ...forms.map((form) => form.replace(backup, ''))]
    : forms
}

/** A pattern without a slash is meant for names anywhere. */
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

/** One of them, or a copy that an update left of it. */
function isEnvExample(name: string): boolean {
  const before = trimTrailing(name.replace(backup, ''))
  return envExamples.has(before) || (before !== name && isEnvExample(before))
}

/** A quick first look, since walks ask about every name they meet: how a closed one begins, or a letter to fold. */
const closedNameHint = /^(?:\.ssh|\.env|id_|native|ssh~|env~)|[^ -~]/i

const isClosedName = (name: string): boolean =>
  closedNames.has(name) ||
  (name.startsWith('.env') && !isEnvExample(name)) ||
  // The short names that Windows gives them.
  /^(ssh|env|id_ed2|native)~\d+$/.test(name)
