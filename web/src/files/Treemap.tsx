import { Link } from '@tanstack/react-router'
import { useRef } from 'react'
import type { CSSProperties } from 'react'
import { parentPath } from './path.ts'
import { formatSize } from './byte-size.ts'
import { layoutSizeMap, fitLabels } from './size-map.ts'
import type { MapBox } from './size-map.ts'
import type { UsageNode } from './usage.ts'
import { SafeText } from '../shared/SafeText.tsx'
import { sanitizeText } from '../shared/sanitize.ts'
import { useWidth } from '../shared/use-width.ts'

const height = 400

/** A treemap of folders and files. A folder links to its own treemap, a file to its preview. */
export function Treemap({ parts }: { parts: readonly UsageNode[] }) {
  const frame = useRef<HTMLDivElement>(null)
  const width = useWidth(frame, 800)
  return (
    <div
      ref={frame}
      role="group"
      aria-label="Treemap of folders and files"
      className="relative w-full overflow-hidden rounded"
      style={{ height }}
    >
      {layoutSizeMap(parts, { width, height }).map((drawn) => (
        <Area key={`${drawn.part.kind} ${drawn.part.path}`} {...drawn} />
      ))}
    </div>
  )
}

/** Mixed with the background, for contrast in the light and dark themes. */
const boxClasses = {
  folder: [
    'bg-[color-mix(in_oklab,var(--accent)_15%,var(--panel))] border-[color-mix(in_oklab,var(--accent)_40%,var(--panel))]',
    'bg-[color-mix(in_oklab,var(--accent)_30%,var(--panel))] border-[color-mix(in_oklab,var(--accent)_50%,var(--panel))]',
  ],
  file: [
    'bg-[color-mix(in_oklab,var(--edge)_30%,var(--panel))] border-edge',
    'bg-[color-mix(in_oklab,var(--edge)_30%,var(--panel))] border-edge',
  ],
  rest: ['bg-raised border-line text-soft', 'bg-raised border-line text-soft'],
} as const

function Area({ part, box, level, isOpen }: MapBox) {
  const size = formatSize(part.bytes)
  const { hasName, hasSize } = fitLabels(box, part.name, size, isOpen)
  const labels = (
    <>
      <span
        className={
          hasName ? `min-w-0 truncate ${part.kind === 'rest' ? '' : 'font-[550]'}` : 'sr-only'
        }
      >
        <SafeText text={part.name} />
      </span>{' '}
      <span className={hasSize ? 'shrink-0' : 'sr-only'}>{size}</span>
    </>
  )
  const shared = {
    title: `${sanitizeText(part.name)} ${size}`,
    style: toBoxStyle(box),
    // Without labels, no padding: a box can be narrower than the padding.
    className: `absolute flex overflow-hidden rounded-sm border text-xs -outline-offset-2 ${
      hasName ? 'px-1.5 py-0.5' : ''
    } ${isOpen ? 'gap-1.5' : 'flex-col'} ${boxClasses[part.kind][level]}`,
  }
  if (part.kind === 'rest') return <span {...shared}>{labels}</span>
  const link = {
    ...shared,
    'aria-current': undefined,
    className: `${shared.className} hover:border-text`,
  }
  if (part.kind === 'folder')
    return (
      <Link to="/files/size" search={{ path: part.path }} {...link}>
        {labels}
      </Link>
    )
  return (
    <Link to="/files" search={toFileLink(part.path)} {...link}>
      {labels}
    </Link>
  )
}

export const toFileLink = (path: string) => {
  const folder = parentPath(path)
  return { ...(folder !== '' && { path: folder }), open: path }
}

const gap = 2
const toBoxStyle = ({ x, y, width, height: tall }: MapBox['box']): CSSProperties => ({
  left: x,
  top: y,
  width: Math.max(1, width - gap),
  height: Math.max(1, tall - gap),
})
