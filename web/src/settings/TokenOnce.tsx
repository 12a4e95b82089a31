import { useQuery } from '@tanstack/react-query'
import { Tabs } from 'radix-ui'
import type { ReactNode } from 'react'
import { Button } from '../shared/Button.tsx'
import { CopyBox } from '../shared/Copy.tsx'
import { Dialog, DialogActions } from '../shared/Dialog.tsx'
import { Hint, Note } from '../shared/States.tsx'
import { meQuery } from '../api/queries.ts'
import { clients, snippetsFor } from '../shared/snippet.ts'

type Props = { title: string; token: string; onClose: () => void; children?: ReactNode }

/** The token, this once, and how each client is told of it. */
export const TokenOnce = ({ title, token, onClose, children }: Props) => (
  <Dialog title={title} onClose={onClose} wide>
    <Note tone="suggest" icon="key">
      Take its token now: only a hash is kept, so it is not shown again. {children}
    </Note>
    <CopyBox text={token} what="token" />
    <section className="grid gap-2">
      <h3 className="text-xs font-semibold text-faint">Connect a client</h3>
      <Snippets token={token} />
    </section>
    <DialogActions>
      <Button tone="primary" onClick={onClose}>
        I have kept it
      </Button>
    </DialogActions>
  </Dialog>
)

function Snippets({ token }: { token: string }) {
  const command = useQuery(meQuery).data?.command
  const given = { url: `${location.origin}/mcp`, token, command }
  return (
    <Tabs.Root defaultValue={clients[0]?.id}>
      <Tabs.List
        aria-label="Client"
        className="scroll-thin flex gap-4 overflow-x-auto border-b border-line"
      >
        {clients.map(({ id, name }) => (
          <Tabs.Trigger
            key={id}
            value={id}
            className="h-8 shrink-0 border-b-2 border-transparent text-soft -outline-offset-2 data-[state=active]:border-accent data-[state=active]:font-[550] data-[state=active]:text-text max-md:h-11"
          >
            {name}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {clients.map(({ id }) => (
        <Tabs.Content key={id} value={id} className="grid gap-3 pt-3">
          {snippetsFor(id, given).map(({ lead, text }) => (
            <div key={lead} className="grid gap-1.5">
              <p className="text-soft">
                <Hint text={lead} />
              </p>
              <CopyBox text={text} what="snippet" />
            </div>
          ))}
        </Tabs.Content>
      ))}
    </Tabs.Root>
  )
}
