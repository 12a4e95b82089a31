import { Chip } from '../shared/Chips.tsx'
import type { IconName } from '../shared/Icon.tsx'
import { backlogNames, priorityNames, sprintNames, statusNames } from './text.ts'
import type { BacklogStatus, Priority, SprintStatus, Status } from './work.ts'

type Tone = 'act' | 'suggest' | 'escalate' | 'accent' | 'plain'
type Look = readonly [tone: Tone, icon: IconName]

export const statusStyles: Record<Status, Look> = {
  planned: ['plain', 'box'],
  in_progress: ['accent', 'resume'],
  blocked: ['escalate', 'stop'],
  in_review: ['suggest', 'eye'],
  done: ['act', 'check'],
  dropped: ['plain', 'cross'],
}
const backlogLooks: Record<BacklogStatus, Look> = {
  todo: statusStyles.planned,
  in_progress: statusStyles.in_progress,
  done: statusStyles.done,
}
const sprintLooks: Record<SprintStatus, Look> = {
  active: statusStyles.in_progress,
  planned: statusStyles.planned,
  reference: ['plain', 'info'],
  completed: statusStyles.done,
}
const priorityLooks: Record<Priority, Look> = {
  urgent: ['escalate', 'escalate'],
  high: ['suggest', 'up'],
  medium: ['plain', 'right'],
  low: ['plain', 'down'],
}

const Looked = ({ look: [tone, icon], name }: { look: Look; name: string }) => (
  <Chip tone={tone} icon={icon}>
    {name}
  </Chip>
)

export const StatusChip = ({ status }: { status: Status }) => (
  <Looked look={statusStyles[status]} name={statusNames[status]} />
)
export const BacklogChip = ({ status }: { status: BacklogStatus }) => (
  <Looked look={backlogLooks[status]} name={backlogNames[status]} />
)
export const SprintChip = ({ status }: { status: SprintStatus }) => (
  <Looked look={sprintLooks[status]} name={sprintNames[status]} />
)
export const PriorityChip = ({ priority }: { priority: Priority }) => (
  <Looked look={priorityLooks[priority]} name={priorityNames[priority]} />
)
