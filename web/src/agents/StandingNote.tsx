import type { Standing } from './standing.ts'
import { score } from '../inbox/text.ts'
import { Note } from '../shared/States.tsx'

const says = {
  act: 'It acts alone where no rule asks a person. Some of it comes to the inbox afterwards.',
  suggest: 'A person approves each of its actions first.',
  escalate: 'A person approves each of its actions first, and each is urgent.',
}

/** What its trust means today, before how it came to be. */
export const StandingNote = ({ standing: it }: { standing: Standing }) => (
  <Note
    tone={it.mode}
    icon={it.mode === 'act' ? 'act' : it.mode === 'suggest' ? 'info' : 'escalate'}
  >
    <p>
      <b>Trust {score(it.trust_level)}.</b>{' '}
      {it.gated
        ? 'The score would let it act alone, but the gate is closed: a person approves each of its actions first.'
        : says[it.mode]}
    </p>
    <p className="text-xs text-soft">{reviewsOf(it)}</p>
  </Note>
)

function reviewsOf({
  approvals,
  overrides,
  consecutive_overrides: row,
  decay_days: idle,
}: Standing) {
  const judged = approvals + overrides
  return [
    judged === 0
      ? 'Nobody has reviewed it here yet'
      : `${approvals} of ${judged} ${judged === 1 ? 'review' : 'reviews'} approved`,
    row > 1 && `the last ${row} were overrides`,
    idle > 0 && `idle for ${idle === 1 ? 'a day' : `${idle} days`}, which took trust away`,
  ]
    .filter(Boolean)
    .join(', ')
}
