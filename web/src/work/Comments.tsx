import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/client.ts'
import { Ago } from '../shared/Ago.tsx'
import { Button } from '../shared/Button.tsx'
import { ErrorNote } from '../shared/States.tsx'
import { TextArea } from '../shared/Field.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { Section } from '../shared/Section.tsx'
import type { Comment, Story } from './work.ts'
import { useActorName, useWork } from './work-context.ts'

export function Comments({ story: { id, comments = [] } }: { story: Story }) {
  const { mayChange } = useWork()
  if (comments.length === 0 && !mayChange) return null
  return (
    <Section title="Comments">
      {comments.length > 0 && (
        <ol aria-label="Comments" className="grid gap-3">
          {comments.map((comment, at) => (
            // Comments are append-only. oxlint-disable-next-line react/no-array-index-key
            <CommentItem key={at} comment={comment} />
          ))}
        </ol>
      )}
      {mayChange && <CommentForm id={id} />}
    </Section>
  )
}

function CommentItem({ comment: { at, by, text } }: { comment: Comment }) {
  const formatActor = useActorName()
  return (
    <li className="grid gap-0.5">
      <p className="flex gap-2 text-xs text-soft">
        <SafeText as="b" text={formatActor(by)} />
        <Ago at={at} />
      </p>
      <SafeText as="p" className="break-words whitespace-pre-wrap" text={text} lines />
    </li>
  )
}

function CommentForm({ id }: { id: string }) {
  const { project } = useWork()
  const [text, setText] = useState('')
  const submit = useMutation({
    mutationFn: () => call('worksync_comment', { project, story_id: id, text: text.trim() }),
    onSuccess: () => setText(''),
  })
  return (
    <form
      className="grid gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        submit.mutate()
      }}
    >
      <TextArea
        label="Add a comment"
        hint="Comments cannot be edited."
        rows={2}
        maxLength={10_000}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <ErrorNote error={submit.error} />
      <Button
        type="submit"
        size="sm"
        className="justify-self-start"
        disabled={text.trim() === '' || submit.isPending}
      >
        Comment
      </Button>
    </form>
  )
}
