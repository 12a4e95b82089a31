type Props = { value: number; tone?: 'act' | 'suggest' | 'escalate' | 'plain'; className?: string }

const tones = {
  act: 'bg-act',
  suggest: 'bg-suggest',
  escalate: 'bg-escalate',
  plain: 'bg-edge',
}

export const Meter = ({ value, tone = 'plain', className = 'w-16' }: Props) => (
  <span
    aria-hidden
    className={`inline-block h-1.5 shrink-0 overflow-hidden rounded-full bg-line ${className}`}
  >
    <span
      className={`block h-full rounded-full ${tones[tone]}`}
      style={{ width: `${Math.min(100, Math.max(0, value * 100))}%` }}
    />
  </span>
)
