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
  /** Cowork's own state, which agents must not reach. */
  readonly state: string
  readonly createIfMissing: boolean
}

export type WorkspaceChoice = {
  readonly path: string
  /** The folder that was named, where it holds something and stays its owner's. */
  readonly around?: string
}

/**
 * The folder that a person wants as the workspace, as it really lies on disk; or why it cannot be one (F1). Agents use
 * all of a workspace without a grant: where a folder holds something, they get one of their own inside it.
 */
export function checkWorkspaceChoice(given: string, rules: ChoiceRules): WorkspaceChoice {
  const { home } = rules.guard
  if (!isAbsolute(given) && !/^~([/\\]|$)/.test(given))
    throw refusal('invalid_path', `${given} is not a full path.`, 'Begin it with / or ~/.')
  // For what it refuses; where the folder lies is found out below.
  parsePath(given, { home, workspace: rules.guard.workspace })
  const path = expandPath(given, home, home)
  const around = realOf(path)
  if (isForAgents(around)) return { path: checkPlace(path, rules) }
  const inside = checkPlace(join(around, ownName), rules)
  if (isForAgents(inside)) return { path: inside, around }
  throw refusal('forbidden_path', `${inside} holds something that is not of agents.`, elsewhere)
}

const ownName = 'AI-Workspace'

/** Empty or not there, called so, or a workspace of before: cowork's, or that of an earlier File Ops (F6). */
function isForAgents(real: string): boolean {
  const found = statSync(real, { throwIfNoEntry: false })
  if (!found?.isDirectory() || basename(real) === ownName) return true
  const isThere = (name: string) => existsSync(join(real, name))
  return isThere('.cowork/trash') || isThere('.fileops') || namesIn(real).length === 0
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (cause) {
    throw refusal('no_permission', `${folder} cannot be read: ${errorMessage(cause)}.`, elsewhere)
  }
}

function checkPlace(path: string, rules: ChoiceRules): string {
  const real = realOf(path)
  if (isWithin(real, realOf(rules.state)))
    throw refusal('forbidden_path', `${real} is in the state folder of cowork.`, elsewhere)
  checkApart(real, rules)
  checkUsable(path, rules.createIfMissing)
  return real
}

/** What config names, at start: a folder of its own in the state folder is for agents alone as well. */
export function checkConfiguredWorkspace(
  path: string,
  rules: Omit<ChoiceRules, 'createIfMissing'>,
) {
  const state = realOf(rules.state)
  const forbidden = rules.guard.forbidden.filter((closed) => !isWithin(closed, state))
  checkApart(realOf(path), { ...rules, guard: { ...rules.guard, forbidden } })
}

/** It opens nothing but itself. */
function checkApart(
  real: string,
  { guard: settings, state }: Omit<ChoiceRules, 'createIfMissing'>,
) {
  for (const [whole, what] of [
    [realOf(settings.home), 'your home folder'],
    [realOf(state), 'the state folder of cowork'],
  ] as const)
    if (isWithin(whole, real))
      throw refusal(
        'forbidden_path',
        `${real} holds ${what}: agents could read and write all of it.`,
        elsewhere,
      )
  // Nothing is open yet: that the present workspace is says nothing about another.
  const guard = createGuard({ ...settings, workspace: '' })
  if (guard.checkForbidden(real, 'write'))
    throw refusal('forbidden_path', `${real} is closed to agents.`, elsewhere)
}

/** The same before anything runs: for whoever sets up a new place. */
export const checkWorkspace = (
  given: string,
  {
    config,
    paths,
    home,
  }: { readonly config: Config; readonly paths: StatePaths; readonly home: string },
): WorkspaceChoice =>
  checkWorkspaceChoice(given, {
    guard: toGuardSettings({ config, paths, home, workspace: config.workspace.path }),
    state: paths.dir,
    createIfMissing: config.workspace.create_if_missing,
  })

/** Asks for the folder that the configuration names since this start, where it is another: a restart takes it (C9). */
export function createConfiguredWorkspaceReader(
  configFile: string,
  inUse: string,
): () => string | undefined {
  const named = () => {
    try {
      const { config } = loadConfig({ file: configFile, env: currentEnvironment() })
      return realOf(config.workspace.path)
    } catch {
      // None is there, or none that the daemon would start with.
      return undefined
    }
  }
  const atStart = named()
  return () => {
    const now = named()
    return now === atStart || now === inUse ? undefined : now
  }
}

const elsewhere = 'Choose a folder for agents alone, such as ~/Downloads/AI-Workspace/.'

/** As far as it is there: a link in it counts as what it leads to. */
const realOf = (path: string): string => {
  const there = nearest(path)
  return join(realpathSync(there), relative(there, path))
}

function checkUsable(path: string, createIfMissing: boolean): void {
  const there = nearest(path)
  if (!statSync(there).isDirectory())
    throw refusal('not_a_folder', `${there} is a file, not a folder.`, elsewhere)
  if (there !== path && !createIfMissing)
    throw refusal(
      'not_found',
      `There is no ${path}, and workspace.create_if_missing is false.`,
      'Make the folder first, or let cowork make it.',
    )
  try {
    accessSync(there, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw refusal('no_permission', `${there} cannot be written: ${errorMessage(cause)}.`, elsewhere)
  }
}

function nearest(path: string): string {
  if (statSync(path, { throwIfNoEntry: false }) || dirname(path) === path) return path
  return nearest(dirname(path))
}

const refusal = (code: FileErrorCode, message: string, hint: string) =>
  new CoworkError(code, message, { hint })
