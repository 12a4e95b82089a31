import { passkeyProblem } from '../api/passkey.ts'
import { sentenceOf } from './toast.ts'
import { Hint, Note } from './States.tsx'

export const ErrorNote = ({ error }: { error: unknown }) =>
  error ? (
    <div role="alert">
      <Note tone="escalate" icon="warn">
        <Hint text={passkeyProblem(error) ?? sentenceOf(error)} />
      </Note>
    </div>
  ) : null
