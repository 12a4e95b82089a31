import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryClient } from '../api/queries.ts'
import { callFiles } from './call.ts'
import type { Version } from './file.ts'
import { baseName } from './path.ts'
import { formatSize } from './byte-size.ts'
import { Button } from '../shared/Button.tsx'
import { DialogButton } from '../shared/DialogButton.tsx'
import { DiffView } from '../shared/DiffView.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { Section } from '../shared/Section.tsx'
import { sanitizeText } from '../shared/sanitize.ts'
import { diffLines, countChanges } from '../policies/diff.ts'
import { formatAgo, formatDateTime, dateTimeSeconds, fullTime } from '../shared/time.ts'
import { useNow } from '../shared/use-now.ts'
import { toDistinctNames } from '../shared/distinct-name.ts'
import { ConfirmDialog } from '../shared/Dialog.tsx'
import { diskKey, keepUnlessGone, versionDiffQuery, versionsQuery } from './file-queries.ts'
import { FileAwaited } from './FileError.tsx'

type Props = { path: string; mayChange: boolean }

/** The versions of a file, to compare and restore (TR3). */
export function FileVersions({ path, mayChange }: Props) {
  const query = useQuery(versionsQuery(path))
  const versions = keepUnlessGone(query)
  const at = ({ replaced_at }: Version) => Date.parse(replaced_at)
  const ends = toDistinctNames(versions ?? [], (version) => fullTime(at(version)))
  const shortEnds = toDistinctNames(
    versions ?? [],
    (version) => formatDateTime(at(version)),
    (version) => dateTimeSeconds(at(version)),
  )
  const [compared, setCompared] = useState<string>()
  return (
    <Section title="Versions" says="saved before each change">
      {versions ? (
        versions.length === 0 ? (
          <p className="text-soft">No versions</p>
        ) : (
          <ol aria-label="Versions, newest first" className="border-t border-line">
            {versions.map((version, place) => (
              <VersionRow
                key={version.version_id}
                version={version}
                until={ends[place] ?? ''}
                shortUntil={shortEnds[place] ?? ''}
                path={path}
                mayChange={mayChange}
                isCompared={version.version_id === compared}
                onCompare={() =>
                  setCompared(compared === version.version_id ? undefined : version.version_id)
                }
              />
            ))}
          </ol>
        )
      ) : (
        <FileAwaited query={query} what="versions" rows={2} />
      )}
    </Section>
  )
}

type VersionRowProps = Props & {
  version: Version
  /** When the version was replaced, in full and short; unique in the list. */
  until: string
  shortUntil: string
  isCompared: boolean
  onCompare: () => void
}

function VersionRow(props: VersionRowProps) {
  const { version, until, shortUntil, path, mayChange, isCompared, onCompare } = props
  const now = useNow()
  const at = Date.parse(version.replaced_at)
  const when = fullTime(at)
  return (
    <li className="grid gap-2 border-b border-line py-1.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <p className="min-w-0 flex-1 basis-40">
          <time dateTime={version.replaced_at} title={when}>
            until {shortUntil}
          </time>
          <span className="block text-xs text-soft">
            {formatAgo(at, now)}, {formatSize(version.size_bytes)}, replaced by{' '}
            <SafeText text={version.replaced_by} />
          </span>
        </p>
        <span className="flex gap-2">
          <Button
            size="sm"
            aria-expanded={isCompared}
            aria-label={`Compare with the version until ${until}`}
            onClick={onCompare}
          >
            Compare
          </Button>
          {mayChange && (
            <DialogButton
              size="sm"
              icon="undo"
              aria-label={`Restore the version until ${until}`}
              dialog={(close) => (
                <ConfirmDialog
                  title="Restore this version?"
                  action="Restore"
                  act={async () => {
                    const version_id = version.version_id
                    await callFiles('file_restore_version', { path, version_id })
                    await queryClient.invalidateQueries({ queryKey: diskKey })
                  }}
                  done={`Restored ${sanitizeText(baseName(path))}.`}
                  onClose={close}
                >
                  <p>
                    Replaces <SafeText text={baseName(path)} /> with the version until {when},{' '}
                    {formatSize(version.size_bytes)}. The current content is kept as a version.
                  </p>
                </ConfirmDialog>
              )}
            >
              Restore
            </DialogButton>
          )}
        </span>
      </div>
      {isCompared && <Compared path={path} version={version.version_id} />}
    </li>
  )
}

/** The end of a truncated diff. */
const cutMark = '[diff truncated]'

function Compared({ path, version }: { path: string; version: string }) {
  const query = useQuery(versionDiffQuery(path, version))
  const data = keepUnlessGone(query)
  if (!data) return <FileAwaited query={query} what="diff" rows={2} />
  const isCut = data.diff.endsWith(cutMark)
  const lines = diffLines(isCut ? data.diff.slice(0, -cutMark.length) : data.diff)
  const { more, less } = countChanges(lines)
  return (
    <div className="grid gap-1">
      {lines.length === 0 ? (
        <p className="text-xs text-soft">
          {data.diff === ''
            ? 'No differences.'
            : 'The files differ, but no line diff is available.'}
        </p>
      ) : (
        <>
          <p className="text-xs text-soft">
            {more.toLocaleString()} added, {less.toLocaleString()} removed since then
          </p>
          <DiffView label="Changes since" lines={lines} className="max-h-[50dvh]" />
          {isCut && <p className="text-xs text-faint">Diff truncated</p>}
        </>
      )}
    </div>
  )
}
