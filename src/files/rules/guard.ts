import type { Need } from '../model.ts'
import type { GuardSettings } from '../worker/protocol.ts'
import { compilePathGlob } from './path-glob.ts'

/** What no grant lifts (PV4), what is sensitive (PV5) and what runs by itself later (F5). Pure: it sees names only. */
export type Guard = {
  /** Whether this absolute path is closed for what is wanted, grant or not. */
  forbidden(abs: string, need: Need): 'forbidden_path' | undefined
  /** Whether one name, met on a walk, is closed wherever it stands. */
  isForbiddenName(name: string): boolean
  /** Whether a path is closed somewhere below this folder; where none is, names alone decide. */
  holdsForbidden(abs: string): boolean
  /** Whether it is read with a warning, written as high risk and never shown in previews. */
  isSensitive(abs: string): boolean
  /** Why writing it is never silent, as the rest of a sentence; undefined for a file like any other. */
  isGuarded(abs: string): string | undefined
  /** Why a file of this extension is not made there, as a sentence. */
  extension(abs: string): string | undefined
}

/** One matcher for the daemon and the worker, so that neither lets through what the other would refuse. */
export function createGuard(settings: GuardSettings): Guard {
  const closed = settings.forbidden.map(foldedNames)
  const open = [settings.workspace, ...settings.except].map(namesOf)
  const readOnly = settings.readOnly.map(foldedNames)
  const workspace = foldedNames(settings.workspace)
  const sensitive = settings.sensitive.map((pattern) =>
    compilePathGlob(anchored(pattern, settings.home), folded),
  )
  const extensions = settings.forbiddenExtensions.map(({ extension, unless_in }) => ({
    extension: folded(extension),
    ...(unless_in !== undefined && { unlessIn: foldedNames(unless_in), shown: unless_in }),
  }))

  /** An open folder inside a closed one stays open, as it is spelled; a closed one inside an open one stays closed. */
  const isClosed = (abs: string, names: readonly string[]): boolean => {
    const spelled = namesOf(abs)
    const deepest = Math.max(
      0,
      ...open.filter((folder) => isBelow(spelled, folder)).map(({ length }) => length),
    )
    return closed.some((folder) => folder.length >= deepest && isBelow(names, folder))
  }

  return {
    forbidden(abs, need) {
      const names = foldedNames(abs)
      if (names.some(isClosedName) || isClosed(abs, names)) return 'forbidden_path'
      const isWrite = need !== 'read'
      return isWrite && readOnly.some((folder) => isBelow(names, folder))
        ? 'forbidden_path'
        : undefined
    },
    isForbiddenName: (name) => mayBeClosed.test(name) && isClosedName(foldedName(name)),
    holdsForbidden(abs) {
      const names = foldedNames(abs)
      return closed.some((folder) => isBelow(folder, names))
    },
    isSensitive: (abs) => sensitive.some((isMatch) => isMatch(abs)),
    isGuarded: (abs) => guardedReason(foldedNames(abs)),
    extension(abs) {
      const names = foldedNames(abs)
      const name = names.at(-1) ?? ''
      for (const { extension, unlessIn, shown } of extensions) {
        if (!name.endsWith(extension)) continue
        const isAllowed =
          unlessIn !== undefined &&
          isBelow(names, [...workspace, ...unlessIn]) &&
          names.length > workspace.length + unlessIn.length
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

/** Windows also drops dots and spaces at the end, and takes `x::$DATA` for `x`. */
function foldedName(name: string): string {
  const whole = folded(name)
  return whole.replace(/:.*$/s, '').replace(/[. ]+$/, '') || whole
}

const namesOf = (path: string): readonly string[] =>
  path.split(/[\\/]/).filter((name) => name !== '')

const foldedNames = (path: string): readonly string[] => namesOf(path).map(foldedName)

const isBelow = (names: readonly string[], folder: readonly string[]): boolean =>
  folder.length <= names.length && folder.every((name, place) => names[place] === name)

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

/** A quick first look, since walks ask about every name they meet: how a closed one begins, or a letter to fold. */
const mayBeClosed = /^(?:\.ssh|\.env|id_|native|ssh~|env~)|[^ -~]/i

const isClosedName = (name: string): boolean =>
  closedNames.has(name) ||
  (name.startsWith('.env') && !envExamples.has(name)) ||
  // The short names that Windows gives them.
  /^(ssh|env|id_ed2|native)~\d+$/.test(name)

const shellStarts = new Set([
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.bash_aliases',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.zlogout',
  '.kshrc',
  '.cshrc',
  '.tcshrc',
  '.login',
  '.logout',
  '.xinitrc',
  '.xsession',
  '.xprofile',
  '.inputrc',
])
const editorStarts = new Set([
  '.vimrc',
  '.exrc',
  '.gvimrc',
  '.nvim.lua',
  '.emacs',
  '.dir-locals.el',
])
/** Folders of editors in which every file may name a command. */
const editorFolders = new Set(['.vscode', '.idea', '.zed', '.fleet', '.vim'])
const startFolders = new Set(['autostart', 'launchagents', 'launchdaemons'])

/** What another program runs without being asked again. */
function guardedReason(names: readonly string[]): string | undefined {
  const name = names.at(-1) ?? ''
  const git = names.lastIndexOf('.git')
  const inGit = git >= 0 ? names[git + 1] : undefined
  if (inGit === 'hooks' || inGit === 'config' || name === '.gitconfig' || names.includes('.husky'))
    return 'git runs what stands in it'
  if (shellStarts.has(name)) return 'a shell runs it when it starts'
  if (/\.(desktop|lnk|url|command)$/.test(name)) return 'it starts a program when it is opened'
  if (
    names.some((one) => editorFolders.has(one)) ||
    editorStarts.has(name) ||
    name.endsWith('.code-workspace')
  )
    return 'an editor runs commands that stand in it'
  if (names.some((one) => startFolders.has(one))) return 'it is run when the user logs in'
  return undefined
}
