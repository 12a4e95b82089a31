import { addReason, toQuote } from '../shared/sentence.ts'
import type { EntryText } from '../shared/sentence.ts'

export const entryText: EntryText = {
  kinds: { policy: 'decision' },
  sentences: {
    'policy.loaded': (e) => ['Loaded policies from cowork.yaml as version', toQuote(e.subject)],
    'policy.saved': (e) => [
      'Saved policies as version',
      toQuote(e.subject),
      ...addReason(e, 'note'),
    ],
    'mapping.baselined': () => ['Imported an existing policy mapping'],
  },
}
