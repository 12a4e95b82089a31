import { useState } from 'react'
import { call } from '../api/client.ts'
import { Button } from '../shared/Button.tsx'
import { Plain } from '../shared/Plain.tsx'
import { Note } from '../shared/States.tsx'
import { plainString } from '../shared/plain.ts'
import { ago, fullTime } from '../shared/time.ts'
import { useNow, useSecond } from '../shared/use-now.ts'
import { leaseLeft } from './text.ts'
import type { Lease, Story } from './work.ts'
import { Confirm } from '../shared/Dialog.tsx'
import { useWork } from './work-context.ts'

export function LeaseNote({ story, lease }: { story: Story; lease: Lease }) {
  const { project, mayChange } = useWork()
  const now = useNow()
  const [isAsking, setAsking] = useState(false)
  return (
    <Note tone="plain" icon="agent">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <p className="min-w-0 flex-1">
          <Plain as="b" text={lease.agent} /> has claimed it{' '}
          <span className="text-soft">
            {ago(Date.parse(lease.since), now)}
            {', '}
            <time dateTime={lease.until} title={fullTime(Date.parse(lease.until))}>
              {leaseLeft(lease.until, useSecond())}
            </time>
          </span>
        </p>
        {mayChange && (
          <Button size="sm" onClick={() => setAsking(true)}>
            Take it back
          </Button>
        )}
      </div>
      {isAsking && (
        <Confirm
          title={`Take ${plainString(story.id)} back?`}
          action="Take it back"
          act={() => call('worksync_release', { project, story_id: story.id })}
          done={`${plainString(story.id)} is free again.`}
          onClose={() => setAsking(false)}
        >
          <p>
            <Plain text={lease.agent} /> may be at work on it. Whoever claims it next is the one
            whose changes count.
          </p>
        </Confirm>
      )}
    </Note>
  )
}
