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
import { about, fail, ok, warn } from './check-result.ts'
import type { CheckResult } from './check-result.ts'

export type DoctorOptions = { readonly deep?: boolean }

/** Looks at everything that is known to go wrong, and says what mends it (K5). Needs no daemon. */
export async function doctor(context: Context, { deep = false }: DoctorOptions): Promise<ExitCode> {
  const { settings, findings } = await checkConfig(context)
  const withSettings = (check: (settings: Settings) => Found) => () => settings && check(settings)
  const checks: Readonly<Record<string, () => Found>> = {
    runtime: checkRuntime,
    files: () => checkFiles(context, settings),
    disk: () => checkDisk(context.paths),
    daemon: () => checkDaemon(context),
    port: withSettings((one) => checkPort(context, one)),
    bind: withSettings(checkBind),
    store: withSettings((one) => checkStore(context, one, deep)),
    workspace: withSettings((one) => checkWorkspace(context, one)),
    work: withSettings((one) => checkWorkData(context, one)),
    clients: () => checkConnections(context),
    service: () => checkService(context),
  }
  for (const [check, act] of Object.entries(checks))
    try {
      const found = [(await act()) ?? []].flat()
      findings.push(...found.map((finding) => ({ check, ...finding })))
    } catch (error) {
      const { message, hint } = toProblem(error)
      findings.push(about(check, fail(message, hint ?? '`cowork logs` may tell more.')))
    }
  const isWell = findings.every(({ state }) => state !== 'fail')
  context.out.data({ ok: isWell, findings }, () => findings.flatMap((one) => lines(one, context)))
  return isWell ? exitCode.ok : exitCode.failed
}

type Found = CheckResult | CheckResult[] | undefined | Promise<CheckResult | CheckResult[]>

async function checkConfig(context: Context) {
  const findings: CheckResult[] = []
  const add = (finding: CheckResult) => findings.push({ check: 'config', ...finding })
  try {
    const settings = await loadSettings(context)
    const file = context.configFile ?? context.paths.config
    add(ok(existsSync(file) ? `${file} is valid` : `defaults: there is no ${file}`))
    for (const text of settings.warnings) add(warn(text, 'Change or remove the setting.'))
    return { settings, findings }
  } catch (error) {
    const { message, hint } = toProblem(error)
    add(fail(message, hint ?? 'Correct it and run this again.'))
    return { settings: undefined, findings }
  }
}

const indent = ' '.repeat(18)
const colours = { ok: 'green', warn: 'yellow', fail: 'red' } as const

function lines({ check = '', state, message, remedy }: CheckResult, { out }: Context): string[] {
  const mended = remedy === undefined || state === 'ok' ? [] : [`→ ${out.callable(remedy)}`]
  const [first = '', ...rest] = [...message.split('\n'), ...mended].flatMap((text) =>
    wrapText(sanitizeForTerminal(text), 80 - indent.length),
  )
  return [
    `${out.style(colours[state], state.padEnd(4))}  ${check.padEnd(11)} ${first}`,
    ...rest.map((text) => indent + text),
  ]
}
