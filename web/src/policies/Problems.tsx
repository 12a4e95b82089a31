import type { TextProblem } from './yaml-text.ts'
import { Icon } from '../shared/Icon.tsx'
import { Plain } from '../shared/Plain.tsx'
import { goTo } from './YamlEditor.tsx'

const most = 20

/** What is wrong and where; a press leads there. */
export const Problems = ({ problems }: { problems: readonly TextProblem[] }) =>
  problems.length === 0 ? null : (
    <section
      aria-label="Problems"
      className="scroll-thin max-h-40 shrink-0 overflow-y-auto border-t border-line bg-escalate-bg"
    >
      <p role="status" className="sr-only">
        {problems.length === 1 ? 'One problem' : `${problems.length} problems`}
      </p>
      <ul>
        {problems.slice(0, most).map((problem, at) => (
          // Two problems may be at one place, and the list is made anew each time.
          // oxlint-disable-next-line react/no-array-index-key
          <li key={at}>
            <button
              type="button"
              onClick={() => goTo(problem)}
              className="flex w-full gap-2 px-5 py-1.5 text-left -outline-offset-2 hover:underline max-md:px-4"
            >
              <span className="mt-0.5 text-escalate">
                <Icon name="warn" />
              </span>
              <span className="w-22 shrink-0 whitespace-nowrap text-soft">
                line {problem.line}:{problem.column}
              </span>
              <span className="min-w-0 break-words">
                <Plain text={problem.message} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      {problems.length > most && (
        <p className="px-5 py-1.5 text-soft">and {problems.length - most} more</p>
      )}
    </section>
  )
