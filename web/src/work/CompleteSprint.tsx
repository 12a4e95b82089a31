import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/client.ts'
import { countText } from '../files/byte-size.ts'
import { Button } from '../shared/Button.tsx'
import { Dialog, DialogActions } from '../shared/Dialog.tsx'
import { ErrorNote } from '../shared/ErrorNote.tsx'
import { SelectField } from '../shared/Field.tsx'
import { plainString } from '../shared/plain.ts'
import { toast } from '../shared/toast.ts'
import { isOpen, openSprints } from './board.ts'
import { sprintLabel, titleOf } from './text.ts'
import type { Card, Sprint } from './work.ts'
import { useWork } from './work-context.ts'

type Props = {
  sprint: Sprint
  sprints: readonly Sprint[]
  stories: readonly Card[]
  onClose: () => void
}

/** A sprint ends with its stories: those that are open go on in another one (W13). */
export function CompleteSprint({ sprint, sprints, stories, onClose }: Props) {
  const { project } = useWork()
  const left = stories.filter(isOpen).length
  const others = openSprints(sprints).filter(({ id }) => id !== sprint.id)
  const [target, setTarget] = useState(others[0]?.id)
  const isStuck = left > 0 && target === undefined
  const complete = useMutation({
    mutationFn: () =>
      call('worksync_update_sprint', {
        project,
        sprint_id: sprint.id,
        status: 'completed',
        expect_rev: sprint.rev,
        ...(left > 0 && { carry_to: target }),
      }),
    onSuccess: () => {
      toast(`${plainString(titleOf(sprint))} is completed.`)
      onClose()
    },
  })
  return (
    <Dialog title={`Complete ${plainString(titleOf(sprint))}?`} onClose={onClose}>
      {left === 0 ? (
        <p className="text-soft">Every story in it is done or dropped.</p>
      ) : isStuck ? (
        <p className="text-soft">
          {countText(left, 'story is', 'stories are')} still open, and there is no other sprint that
          could take them. Create one first.
        </p>
      ) : (
        <SelectField
          label={`${countText(left, 'open story goes', 'open stories go')} to`}
          choices={others.map((one) => ({
            value: one.id,
            label: plainString(sprintLabel(one, sprints)),
          }))}
          value={target}
          onChange={(event) => setTarget(event.target.value)}
        />
      )}
      <ErrorNote error={complete.error} />
      <DialogActions>
        <Button onClick={onClose} data-autofocus>
          Cancel
        </Button>
        {!isStuck && (
          <Button tone="primary" disabled={complete.isPending} onClick={() => complete.mutate()}>
            Complete
          </Button>
        )}
      </DialogActions>
    </Dialog>
  )
}
