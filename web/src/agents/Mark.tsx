import type { MarkKind } from './history.ts'

/** Each kind by its own shape, so that none is told by colour alone. */
const shapes: Record<MarkKind, { d: string; className: string }> = {
  approved: { d: 'M0-3a3 3 0 1 0 0 6a3 3 0 1 0 0-6', className: 'fill-act stroke-bg' },
  agent_wrong: { d: 'M-3.5-3.5L3.5 3.5M3.5-3.5L-3.5 3.5', className: 'stroke-escalate' },
  missing_context: {
    d: 'M0-4a4 4 0 1 0 0 8a4 4 0 1 0 0-8',
    className: 'fill-bg stroke-suggest',
  },
  edge_case: { d: 'M0-4.5L4.5 0L0 4.5L-4.5 0z', className: 'fill-bg stroke-suggest' },
  human_preference: { d: 'M-3.5-3.5h7v7h-7z', className: 'fill-bg stroke-soft' },
  policy_change: { d: 'M-4-2.5h8M-4 2.5h8', className: 'stroke-soft' },
  set: { d: 'M-4-4h8v8h-8z', className: 'fill-accent stroke-bg' },
  promoted: { d: 'M0-5L5 4H-5z', className: 'fill-act stroke-bg' },
  demoted: { d: 'M0 5L5-4H-5z', className: 'fill-escalate stroke-bg' },
  opened: { d: 'M-4 5V-4H4V5', className: 'stroke-act' },
  closed: { d: 'M-4 5V-4H4V5M-6.5 5H6.5M0-4V5', className: 'stroke-escalate' },
  look_back: {
    d: 'M-6 0Q0-6 6 0Q0 6-6 0zM0-.6a.6 .6 0 1 0 0 1.2a.6 .6 0 1 0 0-1.2',
    className: 'fill-bg stroke-accent',
  },
  forgiven: { d: 'M-5 0L-1.5 4L5-4', className: 'stroke-accent' },
  other: { d: 'M0-2a2 2 0 1 0 0 4a2 2 0 1 0 0-4', className: 'fill-soft stroke-bg' },
}

export const Mark = ({ kind, x = 0, y = 0 }: { kind: MarkKind; x?: number; y?: number }) => {
  const { d, className } = shapes[kind]
  return (
    <path
      d={d}
      transform={`translate(${x} ${y})`}
      strokeWidth={className.includes('stroke-bg') ? 1 : 1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
      className={className.includes('fill-') ? className : `fill-none ${className}`}
    />
  )
}
