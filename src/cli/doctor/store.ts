import { existsSync } from 'node:fs'
import { systemClock } from '#base/clock.ts'
import { refuseCut, verifyLedger, verifyTail } from '#ledger'
import { stored } from '../audit-verify.ts'
import type { Context } from '../context.ts'
import { runningDaemon } from '../daemon.ts'
import { problemOf } from '../exit.ts'
import type { Settings } from '../settings.ts'
import { fail, ok, warn } from './finding.ts'
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
      : [warn('store', `There is no ${path} yet.`, 'The first `cowork up` makes it.')]
  }
  await using ledger = await stored(context, settings)
  const findings = [ok('store', url ? 'PostgreSQL answers' : path)]
  if (!existsSync(kept.key_path))
    findings.push(
      fail(
        'store',
        `It is signed by ${ledger.vkey}, but ${kept.key_path} is not there: start is refused.`,
        'Copy the key from a backup, or from the daemon that began this store.',
      ),
    )
  const tail = await verifyTail(ledger.db, ledger.vkey, { mac: ledger.mac })
  // A daemon that runs may have signed more since we looked.
  if (!runningDaemon(context.paths)) findings.push(...cutAt(copies, tail.size))
  const ahead = (tail.newestAt ?? 0) - systemClock()
  findings.push(
    ahead > minute
      ? fail(
          'clock',
          `The newest entry is ${Math.ceil(ahead / minute)} minutes ahead of this machine's clock.`,
          'Set the clock right: new entries would seem older than those before them.',
        )
      : ok('clock', 'not behind the newest entry'),
  )
  if (!deep && !tail.problem) {
    const told = `the newest of ${tail.size} entries are in order, signed up to ${tail.signed}`
    return [...findings, ok('ledger', `${told} (--deep checks all)`)]
  }
  const progress = context.out.progress()
  const onProgress = (entries: number) => progress.show(`${entries} entries checked…`)
  const whole = deep
    ? await verifyLedger(ledger.source, ledger.vkey, {
        mac: ledger.mac,
        deep,
        onProgress,
        replays: ledger.replays,
      }).finally(progress.end)
    : undefined
  const problem = whole?.firstBad ?? whole?.findings[0] ?? tail.problem
  return [
    ...findings,
    problem
      ? fail(
          'ledger',
          `Entry ${problem.seq}: ${problem.why}.`,
          '`cowork audit verify` tells all; keep the store as it is and compare it with a backup.',
        )
      : ok('ledger', `all ${whole?.entries ?? tail.size} entries are as they were written`),
  ]
}

/** Entries that were signed and are gone: the next start is refused for them. */
function cutAt(copies: readonly string[], size: number): Finding[] {
  try {
    refuseCut(copies, size)
    return []
  } catch (error) {
    const { message, hint = '' } = problemOf(error)
    return [fail('store', message, hint)]
  }
}
