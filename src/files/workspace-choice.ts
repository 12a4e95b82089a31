import { accessSync, constants, existsSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { currentEnvironment, expandPath } from '#base/config/env.ts'
import { loadConfig } from '#base/config/index.ts'
import type { Config } from '#base/config/index.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { StatePaths } from '#base/state.ts'
import { toGuardSettings } from './guard-settings.ts'
import type { FileErrorCode } from './model.ts'
import { createGuard } from './rules/guard.ts'
import { isWithin, parsePath } from './rules/paths.ts'
import type { GuardSettings } from './worker/protocol.ts'

export type ChoiceRules = {
  readonly guard: GuardSettings
  /** The state directory, which agents must not access. */
  readonly state: string
  readonly createIfMissing: boolean
}

export type WorkspaceChoice = {
  readonly path: string
  /** The folder that was chosen, if it contains files and the workspace is inside. */
  readonly namedFolder?: string
}

/**
 * Resolves the folder that a person chose as the workspace (F1). Agents can use the entire workspace without a grant, so
 * a folder with files gets an `AI-Workspace` folder inside.
 */
export function checkWorkspaceChoice(requestedPath: string, rules: ChoiceRules): WorkspaceChoice {
  const { home } = rules.guard
  if (!isAbsolute(requestedPath) && !/^~([/\\]|$)/.test(requestedPath))
    throw choiceError(
      'invalid_path',
      `${requestedPath} is not an absolute path.`,
      'Start the path with / or ~/.',
    )
  // Only to refuse invalid paths.
  parsePath(requestedPath, { home, workspace: rules.guard.workspace })
  const path = expandPath(requestedPath, home, home)
  const namedFolder = resolveExisting(path)
  if (isAgentFolder(namedFolder)) return { path: resolveUsable(path, rules) }
  const inside = resolveUsable(join(namedFolder, workspaceName), rules)
  if (isAgentFolder(inside)) return { path: inside, namedFolder }
  throw choiceError('forbidden_path', `${inside} contains other files.`, chooseHint)
}

const workspaceName = 'AI-Workspace'

/** Whether a folder is missing, empty, named AI-Workspace, or a workspace of cowork or File Ops (F6). */
function isAgentFolder(real: string): boolean {
  const found = statSync(real, { throwIfNoEntry: false })
  if (!found?.isDirectory() || basename(real) === workspaceName) return true
  const isThere = (name: string) => existsSync(join(real, name))
  return isThere('.cowork/trash') || isThere('.fileops') || listNames(real).length === 0
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (cause) {
    throw choiceError('no_permission', `Cannot read ${folder}: ${errorMessage(cause)}.`, chooseHint)
  }
}

function resolveUsable(path: string, rules: ChoiceRules): string {
  const real = resolveExisting(path)
  if (isWithin(real, resolveExisting(rules.state)))
    throw choiceError('forbidden_path', `${real} is in the state directory of cowork.`, chooseHint)
  assertSeparate(real, rules)
  assertWritable(path, rules.createIfMissing)
  return real
}

/** Checks the configured workspace at start; a separate folder inside the state directory is allowed. */
export function checkConfiguredWorkspace(
  path: string,
  rules: Omit<ChoiceRules, 'createIfMissing'>,
) {
  const state = resolveExisting(rules.state)
  const forbidden = rules.guard.forbidden.filter((closed) => !isWithin(closed, state))
  assertSeparate(resolveExisting(path), { ...rules, guard: { ...rules.guard, forbidden } })
}

/** Refuses a workspace that would open the home folder, the state directory or a protected path. */
function assertSeparate(
  real: string,
  { guard: settings, state }: Omit<ChoiceRules, 'createIfMissing'>,
) {
  for (const [whole, what] of [
    [resolveExisting(settings.home), 'your home folder'],
    [resolveExisting(state), 'the state directory of cowork'],
  ] as const)
    if (isWithin(whole, real))
      throw choiceError(
        'forbidden_path',
        `${real} contains ${what}, which agents must not access.`,
        chooseHint,
      )
  // The exception for the current workspace does not apply to another folder.
  const guard = createGuard({ ...settings, workspace: '' })
  if (guard.checkForbidden(real, 'write'))
    throw choiceError('forbidden_path', `Protected path: ${real}.`, chooseHint)
}

/** Checks a choice before the daemon runs, for `cowork init`. */
export const checkWorkspace = (
  requestedPath: string,
  {
    config,
    paths,
    home,
  }: { readonly config: Config; readonly paths: StatePaths; readonly home: string },
): WorkspaceChoice =>
  checkWorkspaceChoice(requestedPath, {
    guard: toGuardSettings({ config, paths, home, workspace: config.workspace.path }),
    state: paths.dir,
    createIfMissing: config.workspace.create_if_missing,
  })

/** Returns a function that reads the configured workspace; its result is undefined unless a restart would change it (C9). */
export function createConfiguredWorkspaceReader(
  configFile: string,
  inUse: string,
): () => string | undefined {
  const readConfiguredPath = () => {
    try {
      const { config } = loadConfig({ file: configFile, env: currentEnvironment() })
      return resolveExisting(config.workspace.path)
    } catch {
      // The file is missing or invalid, so the daemon would not start with it.
      return undefined
    }
  }
  const atStart = readConfiguredPath()
  return () => {
    const now = readConfiguredPath()
    return now === atStart || now === inUse ? undefined : now
  }
}

const chooseHint = 'Choose a folder for agents only, such as ~/Downloads/AI-Workspace/.'

/** Resolves the symbolic links of the existing part of a path. */
const resolveExisting = (path: string): string => {
  const existing = nearestExisting(path)
  return join(realpathSync(existing), relative(existing, path))
}

function assertWritable(path: string, createIfMissing: boolean): void {
  const existing = nearestExisting(path)
  if (!statSync(existing).isDirectory())
    throw choiceError('not_a_folder', `${existing} is a file, not a folder.`, chooseHint)
  if (existing !== path && !createIfMissing)
    throw choiceError(
      'not_found',
      `Not found: ${path}, and workspace.create_if_missing is false.`,
      'Create the folder, or set workspace.create_if_missing to true.',
    )
  try {
    accessSync(existing, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw choiceError(
      'no_permission',
      `Cannot write to ${existing}: ${errorMessage(cause)}.`,
      chooseHint,
    )
  }
}

function nearestExisting(path: string): string {
  if (statSync(path, { throwIfNoEntry: false }) || dirname(path) === path) return path
  return nearestExisting(dirname(path))
}

const choiceError = (code: FileErrorCode, message: string, hint: string) =>
  new CoworkError(code, message, { hint })
