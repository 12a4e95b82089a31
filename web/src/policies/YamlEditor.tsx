import { useEffect, useId, useRef } from 'react'
import type { KeyboardEvent } from 'react'
import type { TextIssue } from './yaml-text.ts'
import { Icon } from '../shared/Icon.tsx'
import { SafeText } from '../shared/SafeText.tsx'

/** The line height of the text and the line numbers (px). */
const lineHeight = 20

type Props = {
  text: string
  problems: readonly TextIssue[]
  onText: (text: string) => void
  onReview: () => void
}

/** Moves the caret of the editor to a problem. */
function moveCaret({ line, column }: { line: number; column: number }): void {
  const area = document.querySelector<HTMLTextAreaElement>('#policy-text')
  if (!area) return
  const starts = area.value.split('\n').slice(0, line - 1)
  const at = starts.reduce((sum, one) => sum + one.length + 1, 0) + column - 1
  area.focus()
  area.setSelectionRange(at, at)
  area.scrollTop = Math.max(0, (line - 4) * lineHeight)
}

/** A native textarea with line numbers, so that undo and screen readers work. */
export function YamlEditor({ text, problems, onText, onReview }: Props) {
  const area = useRef<HTMLTextAreaElement>(null)
  const numbers = useRef<HTMLPreElement>(null)
  const hint = useId()
  const lines = text.split('\n').length
  const errorLines = new Set(problems.map(({ line }) => line))
  const syncScroll = () => {
    if (area.current && numbers.current) numbers.current.scrollTop = area.current.scrollTop
  }
  useEffect(syncScroll, [text])
  return (
    <div className="flex min-h-80 flex-1 bg-panel font-mono text-code lg:min-h-0">
      <label htmlFor="policy-text" className="sr-only">
        Policies and mappings as YAML
      </label>
      <p id={hint} className="sr-only">
        Press Tab to leave the field.
      </p>
      <pre
        ref={numbers}
        aria-hidden
        className="w-11 shrink-0 overflow-hidden border-r border-line py-3 pr-2 text-right text-faint select-none"
      >
        {Array.from({ length: lines }, (_, at) => (
          <span
            key={at}
            className={`block ${errorLines.has(at + 1) ? 'bg-escalate-bg font-semibold text-escalate' : ''}`}
          >
            {errorLines.has(at + 1) ? `! ${at + 1}` : at + 1}
          </span>
        ))}
        <span className="block h-20" />
      </pre>
      <textarea
        id="policy-text"
        ref={area}
        aria-describedby={hint}
        aria-invalid={problems.length > 0}
        wrap="off"
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        value={text}
        onScroll={syncScroll}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => {
          keepIndent(event)
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onReview()
        }}
        className="scroll-thin min-w-0 flex-1 resize-none bg-transparent py-3 pr-3 pl-3 leading-5 whitespace-pre -outline-offset-2 max-md:text-[16px]"
      />
    </div>
  )
}

/** Keeps the indent of a new line. `insertText` keeps the undo history of the browser. */
function keepIndent(event: KeyboardEvent<HTMLTextAreaElement>) {
  const { key, ctrlKey, metaKey, shiftKey, altKey, nativeEvent, currentTarget } = event
  if (key !== 'Enter' || ctrlKey || metaKey || shiftKey || altKey || nativeEvent.isComposing) return
  const { value, selectionStart } = currentTarget
  const line = value.slice(value.lastIndexOf('\n', selectionStart - 1) + 1, selectionStart)
  const indent = /^ */.exec(line)?.[0] ?? ''
  if (indent === '') return
  event.preventDefault()
  document.execCommand('insertText', false, `\n${indent}`)
}

const maxShownIssues = 20

export const IssueList = ({ problems }: { problems: readonly TextIssue[] }) =>
  problems.length === 0 ? null : (
    <section
      aria-label="Problems"
      className="scroll-thin max-h-40 shrink-0 overflow-y-auto border-t border-line bg-escalate-bg"
    >
      <p role="status" className="sr-only">
        {problems.length === 1 ? '1 problem' : `${problems.length} problems`}
      </p>
      <ul>
        {problems.slice(0, maxShownIssues).map((problem, at) => (
          // Two problems can have the same position, and the list is rebuilt each time.
          // oxlint-disable-next-line react/no-array-index-key
          <li key={at}>
            <button
              type="button"
              onClick={() => moveCaret(problem)}
              className="flex w-full gap-2 px-5 py-1.5 text-left -outline-offset-2 hover:underline max-md:px-4"
            >
              <Icon name="warn" className="mt-0.5 text-escalate" />
              <span className="w-22 shrink-0 whitespace-nowrap text-soft">
                line {problem.line}:{problem.column}
              </span>
              <SafeText as="span" className="min-w-0 break-words" text={problem.message} />
            </button>
          </li>
        ))}
      </ul>
      {problems.length > maxShownIssues && (
        <p className="px-5 py-1.5 text-soft">and {problems.length - maxShownIssues} more</p>
      )}
    </section>
  )
