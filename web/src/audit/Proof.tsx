import { useQuery } from '@tanstack/react-query'
import type { CheckedProof } from './proof.ts'
import type { EntryProof } from '../api/entry.ts'
import { Button } from '../shared/Button.tsx'
import { CopyButton, CopyIcon } from '../shared/Copy.tsx'
import { HorizontalScroll } from '../shared/HorizontalScroll.tsx'
import { Hint, Note } from '../shared/States.tsx'
import { formatError } from '../shared/toast.ts'
import { Section } from '../shared/Section.tsx'
import { proofQuery } from './entry-queries.ts'
import type { EntryAnswer } from './entry-queries.ts'

/** Fetches the proof and verifies it in the browser, without trusting the daemon. */
export function Proof({ answer }: { answer: EntryAnswer }) {
  const { data, error, refetch } = useQuery(proofQuery(answer.entry))
  const copy = data && <CopyButton text={JSON.stringify(data.proof, null, 2)} what="proof" />
  return (
    <Section title="Proof" aside={copy}>
      {error ? (
        <Note tone="suggest" icon="warn">
          <Hint as="p" text={formatError(error)} />
          <Button size="sm" className="mt-2" onClick={() => void refetch()}>
            Try again
          </Button>
        </Note>
      ) : data ? (
        <Checked {...data} answer={answer} />
      ) : (
        <p role="status" className="text-soft">
          Checking in this browser…
        </p>
      )}
      <Hashes answer={answer} />
    </Section>
  )
}

type CheckedProps = { proof: EntryProof; checked: CheckedProof; answer: EntryAnswer }

function Checked({ proof, checked, answer }: CheckedProps) {
  const error = findProofError(checked, answer)
  return (
    <>
      {error ? (
        <Note tone="escalate" icon="warn">
          <b>Proof failed.</b> {error}
        </Note>
      ) : (
        <Note tone="act" icon="check">
          <b>Verified in this browser.</b> Entry {answer.entry.seq} of {proof.size.toLocaleString()}{' '}
          is unmodified and included in{' '}
          {checked.isSigned === undefined ? (
            <Hint text="a checkpoint. This browser cannot check the signature; use `cowork audit verify`." />
          ) : (
            'a signed checkpoint.'
          )}
        </Note>
      )}
      <ProofDiagram checked={checked} seq={answer.entry.seq} />
      <details className="text-xs">
        <summary className="text-soft">
          Inclusion path: {checked.steps.length} {checked.steps.length === 1 ? 'step' : 'steps'}
        </summary>
        <PathTable checked={checked} />
        <p className="pt-3 pb-1 text-faint">Checkpoint</p>
        <pre className="font-mono break-all whitespace-pre-wrap">{proof.checkpoint.trim()}</pre>
      </details>
    </>
  )
}

function findProofError(checked: CheckedProof, { hash }: EntryAnswer): string | undefined {
  if (checked.leaf !== hash) return 'The hash of the text differs from the hash in the ledger.'
  if (!checked.isSame) return 'The displayed entry differs from the hashed entry.'
  if (!checked.isIncluded) return 'The path does not match the root of the checkpoint.'
  return checked.isSigned === false
    ? 'The checkpoint signature does not match the ledger key.'
    : undefined
}

const PathTable = ({ checked }: { checked: CheckedProof }) => (
  <HorizontalScroll label="Inclusion path">
    <table className="mt-2 w-full text-left">
      <thead className="text-faint">
        <tr>
          <th className="pr-3 font-normal">Step</th>
          <th className="pr-3 font-normal">Side</th>
          <th className="pr-3 font-normal">Sibling</th>
          <th className="font-normal">Parent</th>
        </tr>
      </thead>
      <tbody className="font-mono">
        {checked.steps.map(({ side, sibling, above }, at) => (
          <tr key={above}>
            <td className="pr-3">{at + 1}</td>
            <td className="pr-3">{side}</td>
            <td className="pr-3">{shortenHash(sibling)}</td>
            <td>{shortenHash(above)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </HorizontalScroll>
)

const shortenHash = (hash: string) => `${hash.slice(0, 16)}…`

function Hashes({ answer: { entry, hash, prev_ok: isJoined } }: { answer: EntryAnswer }) {
  return (
    <dl className="grid grid-cols-[96px_minmax(0,1fr)] items-center gap-x-3 gap-y-1">
      <dt className="text-faint">Hash</dt>
      <Hash hash={hash} what="hash" />
      <dt className="text-faint">Previous hash</dt>
      <Hash hash={entry.prev} what="previous hash" />
      {!isJoined && (
        <dd className="col-start-2 text-escalate">
          The previous hash does not match. Verify the ledger.
        </dd>
      )}
    </dl>
  )
}

const Hash = ({ hash, what }: { hash: string; what: string }) => (
  <dd className="flex min-w-0 items-center gap-1">
    <code className="min-w-0 truncate font-mono text-code" title={hash}>
      {hash}
    </code>
    <CopyIcon text={hash} what={what} />
  </dd>
)

const stepWidth = 40
const stepHeight = 24
const radius = 5

type DiagramProps = { checked: CheckedProof; seq: number }

/**
 * Draws the path from the entry to the signed root. Each step combines the current hash (filled) with its sibling
 * (hollow): above for a left sibling, below for a right one.
 */
function ProofDiagram({ checked: { steps, isIncluded }, seq }: DiagramProps) {
  const width = Math.max(steps.length, 1) * stepWidth + 144
  const height = stepHeight * 2 + 34
  const middle = stepHeight + 10
  const x = (at: number) => 48 + at * stepWidth
  const color = isIncluded ? 'var(--act)' : 'var(--escalate)'
  return (
    <HorizontalScroll label="Inclusion path diagram">
      <svg
        role="img"
        aria-label={`Inclusion path from entry ${seq} to the signed root: ${steps.length} steps`}
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        className="block text-xs"
      >
        <line
          x1={x(0)}
          x2={x(steps.length)}
          y1={middle}
          y2={middle}
          stroke={color}
          strokeWidth="1.5"
        />
        {steps.map(({ side, sibling }, at) => {
          const there = side === 'left' ? middle - stepHeight + 4 : middle + stepHeight - 4
          return (
            <g key={sibling}>
              <line x1={x(at)} y1={there} x2={x(at + 1)} y2={middle} stroke="var(--edge)" />
              <circle cx={x(at)} cy={there} r={radius - 1} fill="var(--bg)" stroke="var(--edge)" />
            </g>
          )
        })}
        {Array.from({ length: steps.length + 1 }, (_, at) => (
          <circle
            key={at}
            cx={x(at)}
            cy={middle}
            r={at === steps.length ? radius + 2 : radius}
            fill={color}
          />
        ))}
        <text x={x(0) - 12} y={middle + 4} textAnchor="end" fill="var(--soft)">
          {seq}
        </text>
        <text x={x(steps.length) + 14} y={middle + 4} fill="var(--soft)">
          signed root
        </text>
      </svg>
    </HorizontalScroll>
  )
}
