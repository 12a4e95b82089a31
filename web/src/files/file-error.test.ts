import { expect, test } from 'vitest'
import { toPersonError } from './file-error.ts'

const refused = (code: string, message = 'As agents are told.') => ({
  code,
  message,
  hint: 'Call list_files().',
})

test('C13 what a file tool refuses is said to a person, with a step that a person can take', () => {
  expect(toPersonError('list_files', refused('no_grant', 'Call request_grant() first.'))).toEqual({
    code: 'no_grant',
    message: 'No grant covers this path.',
    hint: 'Grant access under Grants, or open the workspace.',
  })
  expect(toPersonError('create_file', refused('exists'))).toEqual({
    code: 'exists',
    message: 'As agents are told.',
    hint: 'Choose another name.',
  })
  expect(toPersonError('read_file', refused('too_large')).message).toBe(
    'The file is too large to preview.',
  )
  expect(toPersonError('read_file', refused('unreachable'))).toEqual(refused('unreachable'))
})
