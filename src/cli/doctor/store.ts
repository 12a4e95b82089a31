import { existsSync } from 'node:fs'
import { systemClock } from '#base/clock.ts'
import { refuseCut, verifyLedger, verifyTail } from '#ledger'
import { stored } from '../audit-verify.ts'
import type { Context } from '../context.ts'
import { runningDaemon } from '../daemon.ts'
import { problemOf } from '../exit.ts'
import type { Settings } from '../settings.ts'
import { about, fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

const minute = 60_000

/** Whether the store can be read, its clock is ours, and the ledger is whole: its end, or with `deep` all of it. */
export async function checkStore(
  context: Context,
  settings: Settings,
  deep: boolean,
): Promise<Finding[]> {
  const { storage, ledger: kept } = settings.config
  const { url, path } = storage
  const copies = kept.checkpoint_copies
  if (!url && !existsSync(path)) {
    const cut = cutAt(copies, 0)
    return cut.length > 0
      ? cut
      : [warn(`There is no ${path} yet.`, 'The first `cowork up` makes it.')]
  }
  await using ledger = await stored(context, settings)
  const findings = [ok(url ? 'PostgreSQL answers' : path)]
  if (!existsSync(kept.key_path))
    findings.push(
      fail(
        `It is signed by ${ledger.vkey}, but ${kept.key_path} is not there: start is refused.`,
        'Copy the key from a backup, or from the daemon that began this store.',
      ),
    )
  const tail = await verifyTail(ledger.db, ledger.vkey, { mac: ledger.mac })
  // A daemon that runs may have signed more since we looked.
  if (!runningDaemon(context.paths)) findings.push(...cutAt(copies, tail.size))
  const ahead = (tail.newestAt ?? 0) - systemClock()
  findings.push(
    about(
      'clock',
      ahead > minute
        ? fail(
            `The newest entry is ${Math.ceil(ahead / minute)} minutes ahead of this machine's clock.`,
            'Set the clock right: new entries would seem older than those before them.',
          )
        : ok('not behind the newest entry'),
    ),
  )
  return [...findings, about('ledger', await checkLedger(context, ledger, tail, deep))]
}

type Stored = Awaited<ReturnType<typeof stored>>
type Tail = Awaited<ReturnType<typeof verifyTail>>

async function checkLedger({ out }: Context, ledger: Stored, tail: Tail, deep: boolean) {
  const { source, vkey, mac, replays } = ledger
  if (!deep && !tail.problem)
    return ok(
      `the newest of ${tail.size} entries are in order, signed up to ${tail.signed} (--deep checks all)`,
    )
  const onProgress = (entries: number) => out.progress(`${entries} entries checked…`)
  const whole = deep
    ? await verifyLedger(source, vkey, { mac, deep, onProgress, replays })
    : undefined
  const problem = whole?.firstBad ?? whole?.findings[0] ?? tail.problem
  return problem
    ? fail(
        `Entry ${problem.seq}: ${problem.why}.`,
        '`cowork audit verify` tells all; keep the store as it is and compare it with a backup.',
      )
    : ok(`all ${whole?.entries ?? tail.size} entries are as they were written`)
}

/** Entries that were signed and are gone: the next start is refused for them. */
function cutAt(copies: readonly string[], size: number): Finding[] {
  try {
    refuseCut(copies, size)
    return []
  } catch (error) {
    const { message, hint = '' } = problemOf(error)
    return [fail(message, hint)]
  }
}
