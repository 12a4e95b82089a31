import { splitHiddenCharacters } from './sanitize.ts'

type Props = {
  text: string
  lines?: boolean
  spaces?: boolean
  as?: 'span' | 'p' | 'b' | 'code' | 'td'
  className?: string
  title?: string
}

/** Shows untrusted text as plain text with visible marks for hidden characters (A13). */
export function SafeText({ text, as: Tag, className, title, ...options }: Props) {
  const content = (
    <bdi>
      {splitHiddenCharacters(text, options).map(({ text: run, hidden }, at) =>
        hidden ? (
          <span
            // The runs of one text never change their order.
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
  if (!Tag) return content
  return (
    <Tag className={className} title={title}>
      {content}
    </Tag>
  )
}
