import type { ToolResults } from '#wire'
import { fields, table } from './output.ts'
import { plain } from './plain.ts'

export type Standing = ToolResults['cowork_standing']['standings'][number]

/** How an agent stands in a class of risk, as `cowork_standing` says it (T11, T14). */
export type StandingClass = Standing['classes'][number]

const levels = { autonomous: 'Autonomous', supervised: 'Supervised', probation: 'Probation' }

export const levelName = ({ level }: Pick<StandingClass, 'level'>): string => levels[level]

/** The class that most of what agents do is in. */
export function normalOf({ classes }: Pick<Standing, 'classes'>): StandingClass {
  const normal = classes.find(({ risk }) => risk === 'normal')
  if (!normal)
    throw new Error('the daemon did not say how an agent stands where the risk is normal')
  return normal
}

/** Why it stands there and what changes that, as one sentence. */
export const standingText = ({ reason, next }: Pick<StandingClass, 'reason' | 'next'>): string =>
  next === undefined ? reason : `${reason}: ${next}`

export function classLines(standing: StandingClass): string[] {
  const { risk, reason, next, credit, strikes, checks, kinds } = standing
  return [
    `${risk.toUpperCase()} RISK  ${levelName(standing)}: ${plain(reason)}`,
    ...indented(
      fields({
        next: next === undefined ? undefined : plain(next),
        credit: creditText(credit),
        strikes: strikesText(strikes),
        checks: checksText(checks),
      }),
    ),
    ...indented(
      kinds.length > 0
        ? table(
            ['KIND OF ACTION', 'CREDIT', 'STILL NEEDS'],
            kinds.map(({ kind, credit: own, to_go }) => [
              plain(kind),
              signed(own),
              to_go === 0 ? 'nothing' : rightActions(to_go),
            ]),
          )
        : [],
    ),
  ]
}

const cells = 10
const debtCells = 4
/** One mark of debt for each mistake that has to be made up for. */
const debtPerCell = 50

/** Credit runs to the right, a debt to the left. */
function creditText({ now, needed }: StandingClass['credit']): string {
  const paid = Math.floor((Math.max(0, now) / needed) * cells)
  const owed = Math.min(debtCells, Math.ceil(Math.max(0, -now) / debtPerCell))
  const left = `${'·'.repeat(debtCells - owed)}${'◂'.repeat(owed)}`
  return `${left}|${'█'.repeat(paid)}${'·'.repeat(cells - paid)}  ${signed(now)} of ${needed}`
}

const strikesText = ({ now, most, forgiven_after: after }: StandingClass['strikes']): string =>
  now === 0 || after === undefined
    ? 'none'
    : `${now} of ${most}, one is forgiven after ${after} clean ${after === 1 ? 'check' : 'checks'}`

function checksText({ unread, look_back: rows, oldest_at: oldest }: StandingClass['checks']) {
  if (unread === 0) return 'none waits'
  const wait = unread === 1 ? '1 waits' : `${unread} wait`
  const back = rows > 0 ? `, ${rows} of a look-back` : ''
  return `${wait}${back}${oldest === undefined ? '' : `, the oldest since ${oldest.slice(0, 16).replace('T', ' ')}`}`
}

const rightActions = (count: number) => `${count} more right ${count === 1 ? 'action' : 'actions'}`
const signed = (value: number) => (value < 0 ? `−${-value}` : String(value))
const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`)
