import type { ComponentProps } from 'react'
import { Icon } from './Icon.tsx'
import type { IconName } from './Icon.tsx'
import { KeyHint } from './Keys.tsx'

type Tone = 'plain' | 'primary' | 'danger' | 'quiet'

const tones: Record<Tone, string> = {
  plain: 'border-line bg-panel hover:bg-raised',
  primary: 'border-accent bg-accent text-on-accent font-[550] hover:brightness-108',
  danger: 'border-escalate bg-escalate text-on-escalate font-[550] hover:brightness-108',
  quiet: 'border-transparent text-soft hover:bg-raised hover:text-text',
}

export const buttonClass = (tone: Tone = 'plain', size: 'md' | 'sm' = 'md') =>
  `inline-flex shrink-0 items-center justify-center gap-2 rounded border whitespace-nowrap select-none transition-colors disabled:opacity-50 ${
    size === 'md' ? 'h-8.5 px-3 max-md:h-11 max-md:px-4' : 'h-7 px-2.5 text-xs max-md:h-9'
  } ${tones[tone]}`

export const textLink = 'underline decoration-line underline-offset-3 hover:decoration-current'

type Props = ComponentProps<'button'> & {
  tone?: Tone
  size?: 'md' | 'sm'
  icon?: IconName
  keys?: string
}

export const Button = ({ tone, size, icon, keys, children, className = '', ...rest }: Props) => (
  <button type="button" className={`${buttonClass(tone, size)} ${className}`} {...rest}>
    {icon && <Icon name={icon} size={size === 'sm' ? 14 : 16} />}
    {children}
    {keys && (
      <span className="contents max-md:hidden">
        <KeyHint combo={keys} bare={tone === 'primary' || tone === 'danger'} />
      </span>
    )}
  </button>
)

/** Hides the countdown from screen readers, which would read every second aloud. */
export const UndoLabel = ({ seconds }: { seconds: number }) => (
  <span>
    Undo<span aria-hidden> ({seconds} s)</span>
  </span>
)

type IconButtonProps = ComponentProps<'button'> & {
  icon: IconName
  label: string
  small?: boolean
  danger?: boolean
}

export const IconButton = ({
  icon,
  label,
  small = false,
  danger = false,
  className = '',
  ...rest
}: IconButtonProps) => (
  <button
    type="button"
    aria-label={label}
    title={label}
    className={`grid shrink-0 place-items-center rounded transition-colors hover:bg-raised disabled:opacity-50 ${danger ? 'text-escalate' : 'text-soft hover:text-text'} ${small ? 'size-6' : 'size-8 max-md:size-11'} ${className}`}
    {...rest}
  >
    <Icon name={icon} size={small ? 14 : 16} />
  </button>
)
