import type { Detail, GrantRequest, Item } from '../approval.ts'
import { pluralize, formatSize } from '../../files/byte-size.ts'
import { Icon } from '../../shared/Icon.tsx'
import { SafeText } from '../../shared/SafeText.tsx'
import { Section } from '../../shared/Section.tsx'
import { Note } from '../../shared/States.tsx'
import { grantChoices } from '../grant.ts'
import { toastProblem } from '../../shared/toast.ts'
import type { Actions } from '../use-actions.ts'

type Props = { detail: Detail; grant: GrantRequest }

/** Separates the reason of the agent from the actual contents (C2). */
export const GrantDetail = ({ detail: { reasoning }, grant }: Props) => (
  <>
    {reasoning !== null && reasoning !== '' && (
      <blockquote className="border-l-2 border-line pl-3 text-soft">
        <p className="text-xs text-faint">The agent says</p>
        <p className="break-words whitespace-pre-wrap">
          Reason: {'"'}
          <SafeText text={reasoning} lines />
          {'"'}
        </p>
      </blockquote>
    )}
    {grant.real !== grant.path && (
      <Note tone="suggest" icon="link">
        Symbolic link to{' '}
        <SafeText as="code" className="font-mono text-code break-all" text={grant.real} />
      </Note>
    )}
    {grant.warning !== undefined && (
      <Note tone="escalate" icon="warn">
        {grant.warning}
      </Note>
    )}
    {grant.missing ? (
      <Note tone="suggest" icon="info">
        The path no longer exists.
      </Note>
    ) : (
      grant.inside && <Inside inside={grant.inside} folder={grant.folder} />
    )}
    {grant.sensitive.length > 0 && <Sensitive names={grant.sensitive} />}
  </>
)

type InsideProps = { inside: NonNullable<GrantRequest['inside']>; folder: string | null }

const Inside = ({ inside, folder }: InsideProps) => {
  const { files, folders, bytes, sample, capped } = inside
  const more = files + folders - sample.length
  return (
    <Section title="Contents">
      <p>
        {capped && 'At least '}
        {pluralize(files, 'file', 'files')}
        {folders > 0 && ` and ${pluralize(folders, 'folder', 'folders')}`}, {formatSize(bytes)}
        {folder !== null && (
          <span className="text-soft">
            , in <SafeText as="code" className="font-mono text-code break-all" text={folder} />
          </span>
        )}
      </p>
      {sample.length > 0 && (
        <ul aria-label="Sample" className="border-t border-line text-xs">
          {sample.map((name) => (
            <li key={name} className="flex items-center gap-2 border-b border-line py-1">
              <Icon
                name={name.endsWith('/') ? 'folder' : 'file'}
                size={12}
                className="text-faint"
              />
              <SafeText as="span" className="min-w-0 break-all" text={name} />
            </li>
          ))}
          {more > 0 && (
            <li className="py-1 text-soft">
              and {capped && 'at least '}
              {more.toLocaleString()} more
            </li>
          )}
        </ul>
      )}
    </Section>
  )
}

const Sensitive = ({ names }: { names: readonly string[] }) => (
  <section aria-label="Sensitive">
    <Note tone="escalate" icon="warn">
      <p className="font-[550]">
        {names.length === 1 ? '1 name looks sensitive' : `${names.length} names look sensitive`}
      </p>
      <ul className="font-mono text-xs">
        {names.map((name) => (
          <li key={name} className="break-all">
            <SafeText text={name} />
          </li>
        ))}
      </ul>
    </Note>
  </section>
)

type ChoicesProps = { item: Item; grant: GrantRequest; acts: Actions }

/** All choices with their effects, narrowest first; none has the focus (C2, GR3). */
export const GrantChoices = ({ item, grant, acts }: ChoicesProps) => {
  const choices = grantChoices(grant)
  if (choices.length === 0) return null
  return (
    <Section title="Access options">
      {!grant.is_folder && grant.folder !== null && (
        <p className="text-soft">Other files in the folder were not inspected.</p>
      )}
      <ul aria-label="Access options" className="border-t border-line">
        {choices.map(({ choice, label, opens, path, also, lasts }) => (
          <li key={choice} className="border-b border-line">
            <button
              type="button"
              disabled={acts.isBusy}
              onClick={() =>
                choice === 'until'
                  ? acts.start('until', [item])
                  : void acts
                      .send([item], { decision: 'approve', grant: { choice } })
                      .catch(toastProblem)
              }
              className="grid w-full grid-cols-[200px_minmax(0,1fr)] items-baseline gap-x-3 px-2 py-1.5 text-left -outline-offset-2 hover:bg-raised disabled:opacity-50 max-md:grid-cols-1 max-md:py-2.5"
            >
              <span className="font-[550]">{label}</span>
              <span className="text-xs text-soft">
                {opens} <SafeText as="span" className="font-mono break-all" text={path} />
                {also} {lasts}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Section>
  )
}
