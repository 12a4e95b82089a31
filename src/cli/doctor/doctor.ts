import { existsSync } from 'node:fs'
import type { Context } from '../context.ts'
import { exitCode, problemOf } from '../exit.ts'
import type { ExitCode } from '../exit.ts'
import { shown, wrapped } from '../output.ts'
import { loadSettings } from '../settings.ts'
import type { Settings } from '../settings.ts'
import { checkConnections } from './connections.ts'
import {
  checkBind,
  checkDaemon,
  checkDisk,
  checkFiles,
  checkPort,
  checkRuntime,
  checkService,
} from './machine.ts'
import { fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'
import { checkStore } from './store.ts'
import { checkWorkData, checkWorkspace } from './workspace.ts'

export type DoctorOptions = { readonly deep?: boolean }

/** Looks at everything that is known to go wrong, and says what mends it (K5). Needs no daemon. */
export async function doctor(context: Context, { deep = false }: DoctorOptions): Promise<ExitCode> {
  const { settings, findings } = await checkConfig(context)
  const look = async (check: string, act: () => Finding[] | Promise<Finding[]>) => {
    try {
      findings.push(...(await act()))
    } catch (error) {
      const { message, hint } = problemOf(error)
      findings.push(fail(check, message, hint ?? '`cowork logs` may tell more.'))
    }
  }
  await look('runtime', checkRuntime)
  await look('files', () => checkFiles(context, settings))
  await look('disk', () => checkDisk(context.paths))
  await look('daemon', () => checkDaemon(context))
  if (settings) {
    await look('port', () => checkPort(context, settings))
    await look('bind', () => checkBind(settings))
    await look('store', () => checkStore(context, settings, deep))
    await look('workspace', () => checkWorkspace(context, settings))
    await look('work', () => checkWorkData(context, settings))
  }
  await look('clients', () => checkConnections(context))
  await look('service', () => checkService(context))
  const isWell = findings.every(({ state }) => state !== 'fail')
  context.out.data({ ok: isWell, findings }, () => findings.flatMap((one) => lines(one, context)))
  return isWell ? exitCode.ok : exitCode.failed
}

async function checkConfig(
  context: Context,
): Promise<{ settings: Settings | undefined; findings: Finding[] }> {
  try {
    const settings = await loadSettings(context)
    const file = context.configFile ?? context.paths.config
    const warnings = settings.warnings.map((text) =>
      warn('config', text, 'Change or remove the setting.'),
    )
    const told = existsSync(file) ? `${file} is valid` : `defaults: there is no ${file}`
    return { settings, findings: [ok('config', told), ...warnings] }
  } catch (error) {
    const { message, hint } = problemOf(error)
    return {
      settings: undefined,
      findings: [fail('config', message, hint ?? 'Correct it and run this again.')],
    }
  }
}

const indent = ' '.repeat(18)
const colours = { ok: 'green', warn: 'yellow', fail: 'red' } as const

function lines({ check, state, message, remedy }: Finding, { out }: Context): string[] {
  const mended = remedy === undefined || state === 'ok' ? [] : [`→ ${out.callable(remedy)}`]
  const [first = '', ...rest] = [...message.split('\n'), ...mended].flatMap((text) =>
    wrapped(shown(text), 80 - indent.length),
  )
  return [
    `${out.style(colours[state], state.padEnd(4))}  ${check.padEnd(11)} ${first}`,
    ...rest.map((text) => indent + text),
  ]
}
