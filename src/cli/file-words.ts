import type { Words } from './client.ts'

/** For the commands that show and change files. */
export const words: Words = {
  forbidden_path: {
    hint: 'No command of cowork opens it: look at it with another program.',
  },
  is_a_folder: { hint: '`cowork files ls` shows what is in it.' },
  not_found: { hint: '`cowork files ls` and `cowork files search` show what is there.' },
  exists: { hint: 'Name another place with --to.' },
  too_large: { hint: '`cowork workspace open` shows the folder: open it with another program.' },
  invalid_input: { hint: '`cowork files --help` shows what the commands take.' },
}

export const where = 'A relative path is in the workspace; an absolute one must be granted.'

export const minuteOf = (at: string): string => at.slice(0, 16).replace('T', ' ')
