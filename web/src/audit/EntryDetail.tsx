import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { getChainId } from './chain.ts'
import { getOutcome } from './outcome.ts'
import { formatEntryText } from './text.ts'
import { CopyIcon } from '../shared/Copy.tsx'
import { CloseLink } from '../shared/CloseLink.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { EntrySentence } from './Sentence.tsx'
import { QueryState, Note } from '../shared/States.tsx'
import { useFocusOnOpen } from '../shared/use-focus-on-open.ts'
import { useTitle } from '../shared/use-title.ts'
import { Chain } from './Chain.tsx'
import { entryQuery } from './entry-queries.ts'
import type { EntryAnswer } from './entry-queries.ts'
import { Facts, EntryContent } from './EntryFacts.tsx'
import { Proof } from './Proof.tsx'

const route = getRouteApi('/audit/$seq')

export function EntryDetail() {
  const { seq } = route.useParams()
  const query = useQuery(entryQuery(seq))
  return (
    <section
      aria-label={`Entry ${seq}`}
      className="scroll-thin min-w-0 flex-1 scroll-pt-12 overflow-y-auto"
    >
      <header className="sticky top-0 z-10 flex h-11.25 items-center gap-1 border-b border-line bg-bg pr-2 pl-7 text-xs text-faint max-md:pl-2">
        <CloseLink
          to="/audit"
          search={true}
          label="Back to the list"
          icon="back"
          className="md:hidden"
        />
        <span className="mr-auto">Entry {seq}</span>
        <CopyIcon text={`${location.origin}/audit/${seq}`} what="link" />
        <CloseLink to="/audit" search={true} label="Close" icon="cross" className="max-md:hidden" />
      </header>
      {!query.isSuccess && <QueryState query={query} what="the entry" />}
      {query.data && <Body key={seq} answer={query.data} />}
    </section>
  )
}

function Body({ answer }: { answer: EntryAnswer }) {
  const { entry, payload } = answer
  const heading = useFocusOnOpen()
  const outcome = getOutcome(entry)
  const message = entry.data?.['message']
  const isNoted = (outcome === 'refused' || outcome === 'failed') && typeof message === 'string'
  const chain = getChainId(entry)
  useTitle(formatEntryText(entry), 'Audit')
  return (
    <article className="grid max-w-195 gap-6 px-7 pt-5 pb-10 max-md:px-4">
      <h2
        ref={heading}
        tabIndex={-1}
        className="text-lg font-[620] tracking-[-.01em] text-balance break-words outline-none [&_b]:font-[620]"
      >
        <EntrySentence entry={entry} isBrief={isNoted} />
      </h2>
      {isNoted && (
        <Note
          tone={outcome === 'failed' ? 'escalate' : 'suggest'}
          icon={outcome === 'failed' ? 'warn' : 'stop'}
        >
          <SafeText text={message} />
        </Note>
      )}
      <Facts entry={entry} />
      {chain && <Chain chain={chain} entry={entry} />}
      <EntryContent entry={entry} payload={payload} />
      <Proof answer={answer} />
    </article>
  )
}
