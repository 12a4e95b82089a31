import type { CheckedProof } from './proof.ts'
import { Sideways } from '../shared/Sideways.tsx'

const gap = 40
const row = 24
const radius = 5

/**
 * The way from the entry to the signed root, left to right: at each step our hash (full) meets the one
 * beside it (hollow), above when it stands left of ours in the tree and below when right.
 */
export function ProofPicture({
  checked: { steps, isIncluded },
  seq,
}: {
  checked: CheckedProof
  seq: number
}) {
  const width = Math.max(steps.length, 1) * gap + 144
  const height = row * 2 + 34
  const middle = row + 10
  const x = (at: number) => 48 + at * gap
  const ink = isIncluded ? 'var(--act)' : 'var(--escalate)'
  return (
    <Sideways label="Picture of the path">
      <svg
        role="img"
        aria-label={`The path from entry ${seq} to the signed root has ${steps.length} steps`}
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        className="block text-xs"
      >
        <line
          x1={x(0)}
          x2={x(steps.length)}
          y1={middle}
          y2={middle}
          stroke={ink}
          strokeWidth="1.5"
        />
        {steps.map(({ side, sibling }, at) => {
          const there = side === 'left' ? middle - row + 4 : middle + row - 4
          return (
            <g key={sibling}>
              <line x1={x(at)} y1={there} x2={x(at + 1)} y2={middle} stroke="var(--edge)" />
              <circle cx={x(at)} cy={there} r={radius - 1} fill="var(--bg)" stroke="var(--edge)" />
            </g>
          )
        })}
        {Array.from({ length: steps.length + 1 }, (_, at) => (
          <circle
            key={at}
            cx={x(at)}
            cy={middle}
            r={at === steps.length ? radius + 2 : radius}
            fill={ink}
          />
        ))}
        <text x={x(0) - 12} y={middle + 4} textAnchor="end" fill="var(--soft)">
          {seq}
        </text>
        <text x={x(steps.length) + 14} y={middle + 4} fill="var(--soft)">
          signed root
        </text>
      </svg>
    </Sideways>
  )
}
