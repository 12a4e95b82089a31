import { Link } from '@tanstack/react-router'
import { useRef } from 'react'
import { sizeText } from '../../files/sizes.ts'
import { treemap } from '../../files/treemap.ts'
import type { Part } from '../../files/usage.ts'
import { Plain } from '../../parts/Plain.tsx'
import { plainString } from '../../plain.ts'
import { useWidth } from '../../use-width.ts'

const height = 320
/** Smaller boxes have no room for words; the table names them. */
const fewest = { width: 64, height: 36 }

/** Each folder by how much room it takes; a press looks into it. */
export function Treemap({ parts }: { parts: readonly Part[] }) {
  const frame = useRef<HTMLDivElement>(null)
  const width = useWidth(frame, 800)
  return (
    <div
      ref={frame}
      role="group"
      aria-label="Folders by size, as areas"
      className="relative w-full overflow-hidden rounded"
      style={{ height }}
    >
      {treemap(parts, { width, height }).map(({ item, box }) => (
        <Area
          key={item.path ?? `/${item.name}`}
          part={item}
          hasWords={box.width >= fewest.width && box.height >= fewest.height}
          style={{ left: box.x, top: box.y, width: box.width, height: box.height }}
        />
      ))}
    </div>
  )
}

type AreaProps = { part: Part; hasWords: boolean; style: React.CSSProperties }

function Area({ part, hasWords, style }: AreaProps) {
  const size = sizeText(part.bytes)
  const title = `${plainString(part.name)} ${size}`
  const look = 'absolute overflow-hidden rounded-sm border border-bg p-1.5 text-xs'
  const words = hasWords ? (
    <>
      <span className="block truncate font-[550]">
        <Plain text={part.name} />
      </span>{' '}
      <span className="block truncate">{size}</span>
    </>
  ) : (
    <span className="sr-only">{title}</span>
  )
  return part.path === undefined ? (
    <span title={title} style={style} className={`${look} bg-raised text-soft`}>
      {words}
    </span>
  ) : (
    <Link
      to="/files/size"
      search={{ path: part.path }}
      title={title}
      aria-current={undefined}
      style={style}
      className={`${look} bg-accent-bg -outline-offset-2 hover:brightness-95`}
    >
      {words}
    </Link>
  )
}
