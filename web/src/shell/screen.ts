import type { AnyRoute } from '@tanstack/react-router'
import type { ScreenName } from '#base/screens.ts'
import type { EntryFollower } from '../api/queries.ts'
import type { IconName } from '../shared/Icon.tsx'
import type { EntryText } from '../shared/sentence.ts'

export type Shortcut = { readonly keys: string; readonly does: string }

export type Screen = EntryFollower & {
  readonly to: `/${ScreenName}`
  readonly title: string
  readonly icon: IconName
  /** The second key of the navigation chord, such as `a` in `g a`. */
  readonly key: string
  /** The route of the screen with its children. */
  readonly routes: AnyRoute
  /** Shortcuts of this screen only. */
  readonly shortcuts?: readonly Shortcut[]
  /** The texts of its entries in the Audit. */
  readonly entryText: EntryText
}
