import { useState } from 'react'
import { toast } from './toast.ts'
import { Button, IconButton } from './Button.tsx'

function useCopy(text: string) {
  const [isCopied, setCopied] = useState(false)
  async function copy() {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
      setTimeout(() => setCopied(false), 2000)
    } catch {
      toast('Copy failed. Select the text and copy it manually.', true)
    }
  }
  return { isCopied, copy: () => void copy() }
}

export function CopyButton({ text, what }: { text: string; what: string }) {
  const { isCopied, copy } = useCopy(text)
  return (
    <Button size="sm" icon={isCopied ? 'check' : 'copy'} onClick={copy}>
      <span aria-live="polite">{isCopied ? 'Copied' : `Copy ${what}`}</span>
    </Button>
  )
}

export function CopyIcon({ text, what }: { text: string; what: string }) {
  const { isCopied, copy } = useCopy(text)
  return (
    <IconButton
      icon={isCopied ? 'check' : 'copy'}
      label={isCopied ? 'Copied' : `Copy ${what}`}
      onClick={copy}
      small
    />
  )
}

export const CopyBox = ({ text, what }: { text: string; what: string }) => (
  <div className="flex min-w-0 items-start gap-2 rounded border border-line bg-bg p-2 pl-3">
    <output
      aria-label={what}
      className="min-w-0 flex-1 py-1 font-mono text-code break-all whitespace-pre-wrap"
    >
      {text}
    </output>
    <CopyButton text={text} what={what} />
  </div>
)
