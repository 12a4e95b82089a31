import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Version } from './policy.ts'
import { diffLines, countChanges } from './diff.ts'
import { draft } from './draft.ts'
import { Button } from '../shared/Button.tsx'
import { Chip } from '../shared/Chips.tsx'
import { DiffView } from '../shared/DiffView.tsx'
import { SelectField } from '../shared/Field.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { Section } from '../shared/Section.tsx'
import { QueryState, EmptyState, QueryContent } from '../shared/States.tsx'
import { queryClient } from '../api/queries.ts'
import { formatAgo, fullTime } from '../shared/time.ts'
import { useNow } from '../shared/use-now.ts'
import { toastProblem } from '../shared/toast.ts'
import { useIsOwner } from '../settings/person.ts'
import { diffQuery, textQuery, versionsQuery } from './policy-queries.ts'

const route = getRouteApi('/policies/versions')

export function VersionsPage() {
  const query = useQuery(versionsQuery)
  return (
    <div className="scroll-thin min-h-0 flex-1 overflow-y-auto">
      <QueryContent query={query} what="versions">
        {({ versions }) =>
          versions.length > 0 ? (
            <History versions={versions} />
          ) : (
            <EmptyState icon="clock" title="No versions">
              <p>The first start creates a version.</p>
            </EmptyState>
          )
        }
      </QueryContent>
    </div>
  )
}

function History({ versions }: { versions: readonly Version[] }) {
  const { from, to } = route.useSearch()
  const at = Math.max(
    0,
    versions.findIndex(({ version }) => version === to),
  )
  const shown = versions[at]
  const before = versions.find(({ version }) => version === from) ?? versions[at + 1]
  return (
    <div className="grid gap-7 px-7 pt-5 pb-12 max-md:px-4 lg:grid-cols-[minmax(260px,5fr)_minmax(0,9fr)]">
      <ol aria-label="Versions, newest first" className="self-start border-t border-line">
        {versions.map((version, place) => (
          <VersionLine
            key={version.number}
            version={version}
            isActive={place === 0}
            isShown={place === at}
          />
        ))}
      </ol>
      {shown && <Changes shown={shown} before={before} versions={versions} />}
    </div>
  )
}

type LineProps = { version: Version; isActive: boolean; isShown: boolean }

function VersionLine({ version: it, isActive, isShown }: LineProps) {
  const now = useNow()
  const at = Date.parse(it.at)
  return (
    <li className="border-b border-line">
      <Link
        to="/policies/versions"
        search={{ to: it.version }}
        activeOptions={{ exact: true, includeSearch: true }}
        aria-current={isShown ? 'true' : undefined}
        className={`grid gap-0.5 px-3 py-2 -outline-offset-2 ${
          isShown ? 'bg-accent-bg shadow-[inset_2px_0_var(--accent)]' : 'hover:bg-raised'
        }`}
      >
        <span className="flex items-center gap-2">
          <b>Version {it.number}</b>
          <code className="font-mono text-xs text-soft">{it.version.slice(0, 8)}</code>
          {isActive && (
            <Chip tone="act" icon="check">
              Active
            </Chip>
          )}
        </span>
        <span className="text-xs text-soft" title={fullTime(at)}>
          {it.source === 'file' ? (
            'from cowork.yaml'
          ) : (
            <>
              by <SafeText text={it.by} />
            </>
          )}
          , {formatAgo(at, now)}
        </span>
        {it.note && it.source === 'saved' && (
          <SafeText as="span" className="break-words" text={it.note} />
        )}
      </Link>
    </li>
  )
}

type ChangesProps = {
  shown: Version
  before: Version | undefined
  versions: readonly Version[]
}

function Changes({ shown, before, versions }: ChangesProps) {
  const navigate = useNavigate()
  const isOwner = useIsOwner()
  const others = versions.filter(({ number }) => number !== shown.number)
  return (
    <div className="grid min-w-0 content-start gap-4">
      <div className="flex flex-wrap items-end gap-3">
        {before && (
          <div className="min-w-50 flex-1">
            <SelectField
              label={`Compare version ${shown.number} with`}
              value={String(before.number)}
              choices={others.map(({ number, version }) => ({
                value: String(number),
                label: `Version ${number} (${version.slice(0, 8)})`,
              }))}
              onChange={(event) => {
                const chosen = others.find(({ number }) => String(number) === event.target.value)
                void navigate({
                  to: '/policies/versions',
                  search: { to: shown.version, ...(chosen && { from: chosen.version }) },
                  replace: true,
                })
              }}
            />
          </div>
        )}
        {isOwner && <EditButton version={shown} active={versions[0]} />}
      </div>
      {before ? (
        <Compared from={before.version} to={shown.version} />
      ) : (
        <FirstVersion version={shown.version} />
      )}
    </div>
  )
}

function Compared({ from, to }: { from: string; to: string }) {
  const query = useQuery(diffQuery(from, to))
  if (!query.isSuccess) return <QueryState query={query} what="the comparison" rows={4} />
  const lines = diffLines(query.data.diff)
  if (lines.length === 0) return <p className="text-soft">No differences</p>
  const { more, less } = countChanges(lines)
  return (
    <Section title={`${more} added, ${less} removed`}>
      <DiffView label="Changes" lines={lines} className="max-h-[65dvh]" />
    </Section>
  )
}

/** Shows the first version, which has no earlier version to compare with. */
function FirstVersion({ version }: { version: string }) {
  const query = useQuery(textQuery(version))
  if (!query.isSuccess) return <QueryState query={query} what="the version" rows={4} />
  return (
    <Section title="First version">
      <DiffView
        label="Policy document"
        lines={query.data
          .trimEnd()
          .split('\n')
          .map((text) => ({ sign: ' ', text }))}
        className="max-h-[65dvh]"
      />
    </Section>
  )
}

function EditButton({ version, active }: { version: Version; active: Version | undefined }) {
  const navigate = useNavigate()
  const [isBusy, setBusy] = useState(false)
  const startEditing = async () => {
    setBusy(true)
    try {
      const text = await queryClient.fetchQuery(textQuery(version.version))
      draft.save({ text, from: active?.version ?? version.version })
      await navigate({ to: '/policies/edit' })
    } catch (error) {
      toastProblem(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button disabled={isBusy} onClick={() => void startEditing()}>
      {version.number === active?.number ? 'Edit' : 'Restore version…'}
    </Button>
  )
}
