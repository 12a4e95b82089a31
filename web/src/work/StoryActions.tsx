import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { DialogButton } from '../shared/DialogButton.tsx'
import { Button, buttonClass } from '../shared/Button.tsx'
import { Icon } from '../shared/Icon.tsx'
import { isOpen } from './board.ts'
import type { Story } from './work.ts'
import { MoveMenu } from './MoveMenu.tsx'
import { StoryDialog } from './ItemDialogs.tsx'
import { useMoves } from './use-moves.ts'
import { useWork } from './work-context.ts'
import { sprintsQuery } from './work-queries.ts'

export function StoryActions({ story }: { story: Story }) {
  const { project } = useWork()
  const moves = useMoves(project)
  const sprints = useQuery(sprintsQuery(project)).data ?? []
  return (
    <footer className="sticky bottom-0 mt-auto flex flex-wrap items-center gap-2 border-t border-line bg-bg/90 px-6 py-3 backdrop-blur-sm max-md:static max-md:grid max-md:grid-cols-2 max-md:px-4">
      {isOpen(story) && (
        <Button tone="primary" icon="check" onClick={() => void moves.toStatus(story, 'done')}>
          Done
        </Button>
      )}
      <MoveMenu
        story={story}
        sprints={sprints}
        moves={moves}
        trigger={<Button icon="call">Move</Button>}
      />
      <DialogButton
        icon="edit"
        dialog={(close) => <StoryDialog sprint={story.sprint_id} story={story} onClose={close} />}
      >
        Edit
      </DialogButton>
      <Link
        to="/audit"
        search={{ subject: `${project}/${story.id}` }}
        className={buttonClass('quiet')}
      >
        <Icon name="audit" />
        In Audit
      </Link>
    </footer>
  )
}
