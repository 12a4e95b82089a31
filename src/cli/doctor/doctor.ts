import { existsSync } from 'node:fs'
import type { Context } from '../context.ts'
import { exitCode, toProblem } from '../exit.ts'
import type { ExitCode } from '../exit.ts'
import { sanitizeForTerminal, wrapText } from '../output.ts'
import { loadSettings } from '../settings.ts'
import type { Settings } from '../settings.ts'
import { checkConnections, checkStore, checkWorkData, checkWorkspace } from './state.ts'
import {
  checkBind,
  checkDaemon,
  checkDisk,
  checkFiles,
  checkPort,
  checkRuntime,
  checkService,
} from './machine.ts'
import { withCheckName, fail, ok, warn } from './check-result.ts'
import type { CheckResult } from './check-result.ts'

export type DoctorOptions = { readonly deep?: boolean }

/** Runs all checks and suggests fixes (K5). Needs no daemon. */
export async function doctor(context: Context, { deep = false }: DoctorOptions): Promise<ExitCode> {
  const { settings, findings } = await checkConfig(context)
  const withSettings = (check: (settings: Settings) => CheckOutput) => () =>
    settings && check(settings)
  const checks: Readonly<Record<string, () => CheckOutput>> = {
    runtime: checkRuntime,
    files: () => checkFiles(context, settings),
    disk: () => checkDisk(context.paths),
    daemon: () => checkDaemon(context),
    port: withSettings((loaded) => checkPort(context, loaded)),
    bind: withSettings(checkBind),
    store: withSettings((loaded) => checkStore(context, loaded, deep)),
    workspace: withSettings((loaded) => checkWorkspace(context, loaded)),
    work: withSettings((loaded) => checkWorkData(context, loaded)),
    clients: () => checkConnections(context),
    service: () => checkService(context),
  }
  for (const [check, run] of Object.entries(checks))
    try {
      const results = [(await run()) ?? []].flat()
      findings.push(...results.map((finding) => ({ check, ...finding })))
    } catch (error) {
      const { message, hint } = toProblem(error)
      findings.push(withCheckName(check, fail(message, hint ?? 'Run `cowork logs` for details.')))
    }
  const isWell = findings.every(({ state }) => state !== 'fail')
  context.out.data({ ok: isWell, findings }, () =>
    findings.flatMap((finding) => formatCheck(finding, context)),
  )
  return isWell ? exitCode.ok : exitCode.failed
}

type CheckOutput = CheckResult | CheckResult[] | undefined | Promise<CheckResult | CheckResult[]>

async function checkConfig(context: Context) {
  const findings: CheckResult[] = []
  const add = (finding: CheckResult) => findings.push({ check: 'config', ...finding })
  try {
    const settings = await loadSettings(context)
    const file = context.configFile ?? context.paths.config
    add(ok(existsSync(file) ? `${file} is valid` : `default settings, no ${file}`))
    for (const text of settings.warnings) add(warn(text, 'Change or remove the setting.'))
    return { settings, findings }
  } catch (error) {
    const { message, hint } = toProblem(error)
    add(fail(message, hint ?? 'Correct the configuration and run `cowork doctor` again.'))
    return { settings: undefined, findings }
  }
}

const indent = ' '.repeat(18)
const colors = { ok: 'green', warn: 'yellow', fail: 'red' } as const

function formatCheck(
  { check = '', state, message, remedy }: CheckResult,
  { out }: Context,
): string[] {
  const remedyLines =
    remedy === undefined || state === 'ok' ? [] : [`→ ${out.withCommandName(remedy)}`]
  const [first = '', ...rest] = [...message.split('\n'), ...remedyLines].flatMap((text) =>
    wrapText(sanitizeForTerminal(text), 80 - indent.length),
  )
  return [
    `${out.style(colors[state], state.padEnd(4))}  ${check.padEnd(11)} ${first}`,
    ...rest.map((text) => indent + text),
  ]
}
