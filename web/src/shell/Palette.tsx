import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { useState } from 'react'
import { call } from '../api/client.ts'
import { openDialog } from './dialog.ts'
import { appearance } from '../shared/appearance.ts'
import { agentsQuery } from '../agents/agent-queries.ts'
import { statusQuery } from '../api/queries.ts'
import { useCanAct } from '../settings/person.ts'
import { screens } from '../screens.ts'
import { session } from '../api/session.ts'
import { sections } from '../settings/section.ts'
import type { Section } from '../settings/section.ts'
import { toast, toastProblem } from '../shared/toast.ts'
import { IconButton } from '../shared/Button.tsx'
import { Dialog } from '../shared/Dialog.tsx'
import { Icon } from '../shared/Icon.tsx'
import type { IconName } from '../shared/Icon.tsx'
import { KeyHint } from '../shared/Keys.tsx'
import { SafeText } from '../shared/SafeText.tsx'

type ItemProps = {
  icon: IconName
  label: string
  detail?: string
  keys?: string
  /** Ignores the search text. */
  always?: boolean
  act: () => void
}

const Item = ({ icon, label, detail, keys, always = false, act }: ItemProps) => (
  <Command.Item
    value={`${label} ${detail ?? ''}`}
    forceMount={always}
    onSelect={act}
    className="flex h-9 cursor-pointer items-center gap-2.5 rounded px-2.5 select-none data-[selected=true]:bg-raised max-md:h-11"
  >
    <Icon name={icon} className="text-soft" />
    <SafeText as="span" className="truncate" text={label} />
    {detail && <span className="truncate text-xs text-faint">{detail}</span>}
    <span className="ml-auto flex max-md:hidden">{keys && <KeyHint combo={keys} />}</span>
  </Command.Item>
)

const groupClass =
  '[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-semibold [&_[cmdk-group-heading]]:text-faint'

type PaletteAction = readonly [icon: IconName, label: string, act: () => unknown]

export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const navigate = useNavigate()
  const agents = useQuery(agentsQuery).data ?? []
  const isHalted = useQuery(statusQuery).data?.halts.some(({ scope }) => scope === 'all')
  const mayAct = useCanAct()
  const closeAnd = (act: () => unknown) => () => {
    onClose()
    void act()
  }
  const entryNumber = /^#?(\d{1,15})$/.exec(text.trim())?.[1]
  const query = text.trim()
  const resume = () =>
    call('cowork_resume', { scope: 'all' }).then(() => toast('Resumed all agents.'), toastProblem)
  const commands: readonly PaletteAction[] = [
    ['decision', 'Edit policies', () => navigate({ to: '/policies/edit' })],
    ['decision', 'Verify ledger', () => navigate({ to: '/audit', hash: 'verify' })],
    ['resume', 'Open setup', () => navigate({ to: '/welcome' })],
    ['look', 'Light theme', () => appearance.change({ theme: 'light' })],
    ['look', 'Dark theme', () => appearance.change({ theme: 'dark' })],
    ['look', 'System theme', () => appearance.change({ theme: 'system' })],
  ]
  const agentGroups = [
    {
      heading: 'Agents',
      detail: 'trust',
      open: (agent: string) => navigate({ to: '/agents/$agent', params: { agent } }),
    },
    {
      heading: 'Agent activity',
      detail: 'activity',
      open: (actor: string) => navigate({ to: '/audit', search: { actor } }),
    },
  ]
  const searches: readonly PaletteAction[] = [
    ['inbox', 'Inbox', () => navigate({ to: '/inbox', search: { q: query } })],
    ['folder', 'Files', () => navigate({ to: '/files', search: { q: query, in: 'all' } })],
    ['work', 'Work', () => navigate({ to: '/work', search: { q: query } })],
    ['search', 'Audit', () => navigate({ to: '/audit', search: { q: query } })],
  ]
  return (
    <Dialog title="Search or jump to" onClose={onClose} bare wide>
      <Command label="Search or jump to" loop>
        <div className="flex items-center gap-2.5 border-b border-line px-4">
          <Icon name="search" className="text-soft" />
          <Command.Input
            data-autofocus
            value={text}
            onValueChange={setText}
            placeholder="Screen, entry number, agent or command"
            className="h-12 min-w-0 flex-1 bg-transparent outline-none max-md:text-[16px]"
          />
          <span className="max-md:hidden">
            <KeyHint combo="escape" />
          </span>
          <IconButton icon="cross" label="Close" onClick={onClose} className="-mr-3 md:hidden" />
        </div>
        <Command.List className="scroll-thin max-h-[min(420px,60dvh)] overflow-y-auto p-1.5 pb-2">
          {entryNumber && (
            <Command.Group heading="Entries" forceMount className={groupClass}>
              <Item
                always
                icon="audit"
                label={`Entry ${entryNumber}`}
                act={closeAnd(() => navigate({ to: '/audit/$seq', params: { seq: entryNumber } }))}
              />
            </Command.Group>
          )}
          <Command.Group heading="Go to" className={groupClass}>
            {screens.map(({ to, title, icon, key }) => (
              <Item
                key={to}
                icon={icon}
                label={title}
                keys={`g ${key}`}
                act={closeAnd(() => navigate({ to }))}
              />
            ))}
            {(Object.keys(sections) as Section[]).map((section) => (
              <Item
                key={section}
                icon={sections[section].icon}
                label={sections[section].title}
                detail="Settings"
                act={closeAnd(() => navigate({ to: '/settings/$section', params: { section } }))}
              />
            ))}
          </Command.Group>
          <Command.Group heading="Commands" className={groupClass}>
            {mayAct && !isHalted && (
              <Item icon="halt" label="Halt all agents" act={() => openDialog('halt')} />
            )}
            {mayAct && isHalted && (
              <Item icon="resume" label="Resume all agents" act={closeAnd(resume)} />
            )}
            {commands.map(([icon, label, act]) => (
              <Item key={label} icon={icon} label={label} act={closeAnd(act)} />
            ))}
            <Item
              icon="keyboard"
              label="Keyboard shortcuts"
              keys="?"
              act={() => openDialog('shortcuts')}
            />
            <Item icon="back" label="Sign out" act={closeAnd(session.signOut)} />
          </Command.Group>
          {agents.length > 0 &&
            agentGroups.map(({ heading, detail, open }) => (
              <Command.Group key={heading} heading={heading} className={groupClass}>
                {agents.map(({ id }) => (
                  <Item
                    key={id}
                    icon="agent"
                    label={id}
                    detail={detail}
                    act={closeAnd(() => open(id))}
                  />
                ))}
              </Command.Group>
            ))}
          {query !== '' && (
            <Command.Group heading="Search" forceMount className={groupClass}>
              {searches.map(([icon, where, act]) => (
                <Item
                  key={where}
                  always
                  icon={icon}
                  label={`Search ${where} for “${query}”`}
                  act={closeAnd(act)}
                />
              ))}
            </Command.Group>
          )}
        </Command.List>
      </Command>
    </Dialog>
  )
}
