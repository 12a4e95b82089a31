import { useQuery } from '@tanstack/react-query'
import { Button } from '../shared/Button.tsx'
import { Dialog, DialogActions } from '../shared/Dialog.tsx'
import { Plain } from '../shared/Plain.tsx'
import { Awaited } from '../shared/States.tsx'
import { plainString } from '../shared/plain.ts'
import { useRefetch } from '../api/use-entries.ts'
import { changes } from './entry-match.ts'
import type { BacklogItem } from './work.ts'
import { LongText } from './StoryParts.tsx'
import { useWork } from './work-context.ts'
import { itemQuery } from './work-queries.ts'

type Props = { item: BacklogItem; onEdit: () => void; onClose: () => void }

export function BacklogDetail({ item, onEdit, onClose }: Props) {
  const { project, mayChange } = useWork()
  const query = itemQuery(project, item.id)
  const whole = useQuery(query)
  const { data } = whole
  useRefetch((entry) => changes(entry, project, 'backlog'), query)
  return (
    <Dialog title={plainString(item.id)} onClose={onClose} wide>
      <p className="break-words">
        <Plain text={item.summary} />
      </p>
      {!data ? (
        <Awaited query={whole} what="its text" rows={3} />
      ) : data.text === undefined && data.text_note === undefined ? (
        <p className="text-soft">Nothing more is written about it yet.</p>
      ) : (
        <LongText item={data} />
      )}
      <DialogActions>
        {mayChange && <Button onClick={onEdit}>Edit</Button>}
        <Button onClick={onClose}>Close</Button>
      </DialogActions>
    </Dialog>
  )
}
