import { screens } from '../screens.ts'
import type { Screen, Shortcut } from './screen.ts'

type ShortcutGroup = { readonly title: string; readonly keys: readonly Shortcut[] }

/** The list that `?` and Settings show. */
export const shortcuts: readonly ShortcutGroup[] = [
  {
    title: 'Everywhere',
    keys: [
      { keys: 'mod+k', does: 'Search or jump to' },
      { keys: '/', does: 'Search this screen' },
      ...screens.map(({ key, title }) => ({ keys: `g ${key}`, does: `Go to ${title}` })),
      { keys: '?', does: 'Show the shortcuts' },
    ],
  },
  {
    title: 'In lists',
    keys: [
      { keys: 'j', does: 'Next' },
      { keys: 'k', does: 'Previous' },
      { keys: 'Enter', does: 'Open' },
      { keys: 'Escape', does: 'Close what is open' },
    ],
  },
  ...screens.flatMap((screen: Screen) =>
    screen.shortcuts ? [{ title: screen.title, keys: screen.shortcuts }] : [],
  ),
]
