import { useQuery } from '@tanstack/react-query'
import { Plain } from '../shared/Plain.tsx'
import { Note } from '../shared/States.tsx'
import { useWork } from './work-context.ts'
import { projectQuery } from './work-queries.ts'

/** The file cannot be read: what is shown is how it was, and nothing is written over it (W6). */
export function StaleNote() {
  const { project } = useWork()
  const known = useQuery(projectQuery(project)).data
  const [problem] = known?.broken ?? []
  return (
    <div role="status" className="px-5 pt-3 max-md:px-4">
      <Note tone="escalate" icon="warn">
        <p>The file of this project cannot be read. This is how it was before.</p>
        {known && problem && (
          <p className="text-soft">
            <Plain as="span" className="break-all" text={`${known.folder}/work-index.yaml`} />, line{' '}
            {problem.line}, column {problem.column}: <Plain text={problem.message} />. Nothing can
            be changed until somebody mends it.
          </p>
        )}
      </Note>
    </div>
  )
}
