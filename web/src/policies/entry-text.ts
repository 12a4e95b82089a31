import { because, said } from '../shared/sentence.ts'
import type { EntryText } from '../shared/sentence.ts'

export const entryText: EntryText = {
  kinds: { policy: 'decision' },
  sentences: {
    'policy.loaded': (e) => ['Took the policies of cowork.yaml as version', said(e.subject)],
    'policy.saved': (e) => [
      'Saved the policies as version',
      said(e.subject),
      ...because(e, 'note'),
    ],
    'mapping.baselined': () => ['Recorded a policy mapping from before'],
  },
}
