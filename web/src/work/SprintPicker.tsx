import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/client.ts'
import { IconButton } from '../shared/Button.tsx'
import { Menu } from '../shared/Menu.tsx'
import { sanitizeText } from '../shared/sanitize.ts'
import { toast, toastProblem } from '../shared/toast.ts'
import { withoutStory } from './view.ts'
import { sprintLabel, sprintNames } from './text.ts'
import type { Card, Sprint, SprintStatus } from './work.ts'
import { CompleteSprint, NewSprint } from './SprintDialogs.tsx'
import { SprintChip } from './StatusChips.tsx'
import { Picker } from './WorkBar.tsx'
import { useView, useWork } from './work-context.ts'

const order: readonly SprintStatus[] = ['active', 'planned', 'completed', 'reference']

type Props = {
  sprint: Sprint
  sprints: readonly Sprint[]
  stories: readonly Card[] | undefined
}

export function SprintPicker({ sprint, sprints, stories }: Props) {
  const view = useView()
  const navigate = useNavigate()
  const { project, mayChange } = useWork()
  const [openDialog, setOpenDialog] = useState<'new' | 'complete'>()
  const close = () => setOpenDialog(undefined)
  const start = () =>
    call('worksync_update_sprint', {
      project,
      sprint_id: sprint.id,
      status: 'active',
      expect_rev: sprint.rev,
    }).then(() => toast(`Started ${sanitizeText(sprint.id)}.`), toastProblem)
  return (
    <>
      <Picker
        label="Sprint"
        value={sprint.id}
        onPick={(id) => void navigate({ to: '.', search: { ...withoutStory(view), sprint: id } })}
      >
        {order.map((status) => {
          const group = sprints.filter((one) => one.status === status)
          return group.length === 0 ? null : (
            <optgroup key={status} label={sprintNames[status]}>
              {group.map((one) => (
                <option key={one.id} value={one.id}>
                  {sanitizeText(sprintLabel(one, sprints))}
                </option>
              ))}
            </optgroup>
          )
        })}
      </Picker>
      <SprintChip status={sprint.status} />
      {mayChange && (
        <Menu
          trigger={<IconButton icon="more" label="Sprint actions" />}
          items={[
            ...(sprint.status === 'planned'
              ? [{ label: 'Start this sprint', icon: 'resume' as const, act: () => void start() }]
              : []),
            ...(sprint.status === 'active' && stories
              ? [
                  {
                    label: 'Complete this sprint',
                    icon: 'check' as const,
                    act: () => setOpenDialog('complete'),
                  },
                ]
              : []),
            { label: 'New sprint', icon: 'plus', act: () => setOpenDialog('new') },
          ]}
        />
      )}
      {openDialog === 'new' && <NewSprint onClose={close} />}
      {openDialog === 'complete' && stories && (
        <CompleteSprint sprint={sprint} sprints={sprints} stories={stories} onClose={close} />
      )}
    </>
  )
}
