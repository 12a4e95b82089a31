import { plainRuns } from './plain.ts'

/** Words of agents, or of anybody else: plain text in which nothing hides (A13). */
export function Plain({ text, ...how }: { text: string; lines?: boolean; spaces?: boolean }) {
  return (
    <bdi>
      {plainRuns(text, how).map(({ text: run, hidden }, at) =>
        hidden ? (
          <span
            // The runs of one text never move.
            // oxlint-disable-next-line react/no-array-index-key
            key={at}
            title={`Hidden character ${hidden}`}
            className="mx-px rounded-xs bg-suggest-bg px-0.5 font-mono text-[0.85em] text-suggest"
          >
            {run}
          </span>
        ) : (
          run
        ),
      )}
    </bdi>
  )
}
