import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/client.ts'
import { Button } from '../shared/Button.tsx'
import { CopyBox } from '../shared/Copy.tsx'
import { ErrorNote, QueryState, Note } from '../shared/States.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { meQuery, queryClient } from '../api/queries.ts'
import { commandLine } from './command.ts'
import { defaultWorkspace, isDefault } from './setup.ts'
import { infoQuery } from '../files/file-queries.ts'
import { FolderPicker } from '../files/FolderPicker.tsx'
import { Step } from './Step.tsx'
import type { StepProps } from './SetupPage.tsx'

/** Chooses the workspace. A new location needs a restart of the daemon. */
export function WorkspaceStep({ onNext }: StepProps) {
  const info = useQuery(infoQuery)
  const { data } = info
  const { data: me } = useQuery(meQuery)
  const [isPicking, setPicking] = useState(false)
  const chosen = useMutation({
    mutationFn: (path: string) => call('workspace_choose', { path }),
    onSuccess: async ({ restart_needed: isLater }) => {
      await queryClient.invalidateQueries(infoQuery)
      if (!isLater) onNext()
    },
  })
  // A button that is disabled during the request would lose the focus.
  const choose = (path: string) => {
    if (!chosen.isPending) chosen.mutate(path)
  }
  if (!data) return <QueryState query={info} what="the workspace" rows={3} />
  const { workspace_path: now, path_after_restart: next } = data
  const isDefaultNow = isDefault(now)
  return (
    <Step
      title="Where should AI save files it creates?"
      lead="Agents read and write here without approval. Other folders need a grant."
      actions={
        <>
          {next !== undefined && (
            <Button tone="primary" onClick={onNext}>
              Continue
            </Button>
          )}
          <Button
            {...(next === undefined && { tone: 'primary' as const })}
            onClick={() => choose(defaultWorkspace)}
          >
            Use Default
          </Button>
          <Button onClick={() => setPicking(true)}>Choose Different Location…</Button>
          {!isDefaultNow && (
            <Button onClick={next === undefined ? onNext : () => choose(now)}>
              Keep current location
            </Button>
          )}
        </>
      }
    >
      <dl className="grid grid-cols-[64px_minmax(0,1fr)] gap-x-3 gap-y-1">
        <dt className="text-faint">Default</dt>
        <dd className="font-mono text-code">{defaultWorkspace}</dd>
        {!isDefaultNow && (
          <>
            <dt className="text-faint">Current</dt>
            <dd className="font-mono text-code break-all">
              <SafeText text={now} />
            </dd>
          </>
        )}
      </dl>
      {next !== undefined && (
        <div role="status" className="grid gap-2">
          <Note tone="suggest" icon="info">
            After a restart, agents save files in <SafeText text={next} />. Existing files stay in{' '}
            <SafeText text={now} />.
          </Note>
          <CopyBox text={commandLine(me?.command, 'restart')} what="command" />
        </div>
      )}
      <ErrorNote error={chosen.error} />
      {isPicking && (
        <FolderPicker
          title="Where should AI save files?"
          action="Use folder"
          hint="If the folder is not empty, cowork creates AI-Workspace inside it."
          onPick={({ path }) => {
            setPicking(false)
            choose(path)
          }}
          onClose={() => setPicking(false)}
        />
      )}
    </Step>
  )
}
