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
  const closed = settings.forbidden.map(wholeNames)
  const open = [settings.workspace, ...settings.except].map(namesOf)
  const readOnly = settings.readOnly.map(wholeNames)
  const workspace = namesOf(settings.workspace)
  const isSecret = compilePathGlob(
    settings.sensitive.map((pattern) => anchored(pattern, settings.home)),
    folded,
  )
  const extensions = settings.forbiddenExtensions.map(({ extension, unless_in }) => ({
    extension: folded(extension),
    ...(unless_in !== undefined && {
      unlessIn: [...workspace, ...namesOf(unless_in)],
      shown: unless_in,
    }),
  }))

  /** An open folder inside a closed one stays open, as it is spelled; a closed one inside an open one stays closed. */
  const isClosed = (abs: string, path: Spelt): boolean => {
    const around = closed.filter((folder) => isBelow(path, folder))
    if (around.length === 0) return false
    const spelled = { names: namesOf(abs) }
    const opened = open.filter((folder) => isBelow(spelled, folder)).map(({ length }) => length)
    return around.some(({ length }) => opened.every((deep) => length >= deep))
  }
  /** Whether it is read with a warning, written as high risk and never shown in previews. */
  const isSensitive = (abs: string): boolean => formsOf(abs).some(isSecret)
  /** Why writing it is never silent, as the rest of a sentence; undefined for a file like any other. */
  const isGuarded = (abs: string): string | undefined => {
    const { names, cut } = speltOf(abs)
    return guardedReason(names) ?? (cut && guardedReason(cut))
  }

  return {
    /** Whether this absolute path is closed for what is wanted, grant or not. */
    forbidden(abs: string, need: AccessKind): 'forbidden_path' | undefined {
      const path = speltOf(abs)
      const isNamed = path.names.some(isClosedName) || path.cut?.some(isClosedName)
      if (isNamed || isClosed(abs, path)) return 'forbidden_path'
      const isWrite = need !== 'read'
      return isWrite && readOnly.some((folder) => isBelow(path, folder))
        ? 'forbidden_path'
        : undefined
    },
    /** Whether one name, met on a walk, is closed wherever it stands. */
    isForbiddenName(name: string): boolean {
      if (!mayBeClosed.test(name)) return false
      const { names, cut } = speltOf(name)
      return names.some(isClosedName) || cut?.some(isClosedName) === true
    },
    /** Whether a path is closed somewhere below this folder; where none is, names alone decide. */
    holdsForbidden(abs: string): boolean {
      const path = wholeNames(abs)
      return closed.some((folder) => isBelow({ names: folder }, path))
    },
    isSensitive,
    isGuarded,
    /** Why trust or a person looks at it first, secrets too. */
    risk: (abs: string): string | undefined =>
      isGuarded(abs) ?? (isSensitive(abs) ? 'it is for secrets' : undefined),
    /** Why a file of this extension is not made there, as a sentence. */
    extension(abs: string): string | undefined {
      const { names, cut = names } = speltOf(abs)
      const ends = [names.at(-1) ?? '', cut.at(-1) ?? '']
      for (const { extension, unlessIn, shown } of extensions) {
        if (!ends.some((name) => name.endsWith(extension))) continue
        // As it is spelled: in a folder that only looks like that one nobody expects programs.
        const spelled = namesOf(abs)
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
const folded = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text)
    ? text.toLowerCase()
    : text
        .normalize('NFKC')
        .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
        .toUpperCase()
        .toLowerCase()
        .normalize('NFKC')

/** The names of a path, and where one has a colon, the same up to it: a rule that fits either way counts. */
type Spelt = { readonly names: readonly string[]; readonly cut?: readonly string[] }

/** What every disk takes as it stands, but for its case. */
const isOdd = /[^ -~]|:|[. ](?:[\\/]|$)/

function speltOf(path: string): Spelt {
  if (!isOdd.test(path)) return { names: namesOf(path.toLowerCase()) }
  const names = wholeNames(path)
  return names.some((name) => name.includes(':'))
    ? { names, cut: names.map(withoutStream) }
    : { names }
}

const separator = sep === '\\' ? /[\\/]/ : '/'
const namesOf = (path: string): readonly string[] =>
  path.split(separator).filter((name) => name !== '')

const wholeNames = (path: string): readonly string[] =>
  namesOf(path).map((name) => withoutEnd(folded(name)))

/** Windows drops dots and spaces at the end. */
const withoutEnd = (name: string): string => name.replace(/[. ]+$/, '') || name

/** And it takes `x:y` and `x::$DATA` for streams of `x`. */
const withoutStream = (name: string): string => withoutEnd(name.replace(/:.*$/s, '')) || name

const isBelow = ({ names, cut }: Spelt, folder: readonly string[]): boolean =>
  folder.length <= names.length &&
  folder.every((name, place) => names[place] === name || cut?.[place] === name)

/** The copies that an update leaves hold what the file held. */
const backup = /(?:\.bak(?:\.\d+)?)+$/i

/** What a pattern may mean: the path, the file it is a backup of, the file it is a stream of. */
function formsOf(path: string): readonly string[] {
  const forms = path.includes(':') ? [path, path.replaceAll(/:[^\\/]*/g, '')] : [path]
  return backup.test(path) || forms.length > 1
    ? [...forms, ...forms.map((form) => form.replace(backup, ''))]
    : forms
}

/** A pattern without a slash is meant for names anywhere. */
const anchored = (pattern: string, home: string): string =>
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
  const before = withoutEnd(name.replace(backup, ''))
  return envExamples.has(before) || (before !== name && isEnvExample(before))
}

/** A quick first look, since walks ask about every name they meet: how a closed one begins, or a letter to fold. */
const mayBeClosed = /^(?:\.ssh|\.env|id_|native|ssh~|env~)|[^ -~]/i

const isClosedName = (name: string): boolean =>
  closedNames.has(name) ||
  (name.startsWith('.env') && !isEnvExample(name)) ||
  // The short names that Windows gives them.
  /^(ssh|env|id_ed2|native)~\d+$/.test(name)
