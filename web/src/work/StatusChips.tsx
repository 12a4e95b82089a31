import { Chip } from '../shared/Chips.tsx'
import type { IconName } from '../shared/Icon.tsx'
import { backlogNames, priorityNames, sprintNames, statusNames } from './text.ts'
import type { BacklogStatus, Priority, SprintStatus, Status } from './work.ts'

type Tone = 'act' | 'suggest' | 'escalate' | 'accent' | 'plain'
type StatusStyle = readonly [tone: Tone, icon: IconName]

export const statusStyles: Record<Status, StatusStyle> = {
  planned: ['plain', 'box'],
  in_progress: ['accent', 'resume'],
  blocked: ['escalate', 'stop'],
  in_review: ['suggest', 'eye'],
  done: ['act', 'check'],
  dropped: ['plain', 'cross'],
}
const backlogStyles: Record<BacklogStatus, StatusStyle> = {
  todo: statusStyles.planned,
  in_progress: statusStyles.in_progress,
  done: statusStyles.done,
}
const sprintStyles: Record<SprintStatus, StatusStyle> = {
  active: statusStyles.in_progress,
  planned: statusStyles.planned,
  reference: ['plain', 'info'],
  completed: statusStyles.done,
}
const priorityStyles: Record<Priority, StatusStyle> = {
  urgent: ['escalate', 'escalate'],
  high: ['suggest', 'up'],
  medium: ['plain', 'right'],
  low: ['plain', 'down'],
}

const StatusStyleChip = ({ look: [tone, icon], name }: { look: StatusStyle; name: string }) => (
  <Chip tone={tone} icon={icon}>
    {name}
  </Chip>
)

export const StatusChip = ({ status }: { status: Status }) => (
  <StatusStyleChip look={statusStyles[status]} name={statusNames[status]} />
)
export const BacklogChip = ({ status }: { status: BacklogStatus }) => (
  <StatusStyleChip look={backlogStyles[status]} name={backlogNames[status]} />
)
export const SprintChip = ({ status }: { status: SprintStatus }) => (
  <StatusStyleChip look={sprintStyles[status]} name={sprintNames[status]} />
)
export const PriorityChip = ({ priority }: { priority: Priority }) => (
  <StatusStyleChip look={priorityStyles[priority]} name={priorityNames[priority]} />
)
