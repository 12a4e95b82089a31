import { CoworkError } from '#base/errors.ts'
import { isGoodId } from './rules.ts'

/** Ids that fit, said before anything is looked at. */
export function checkId(id: string): void {
  if (isGoodId(id)) return
  throw new CoworkError('invalid_id', `${JSON.stringify(id.slice(0, 100))} is no id.`, {
    hint: 'Write ids in kebab-case such as pin-actions, or STORY-7.',
  })
}

/** The first of `id-2`, `id-3` … that is free. */
export async function freeOf(
  id: string,
  isTaken: (id: string) => Promise<boolean>,
): Promise<string> {
  for (let n = 2; ; n++) if (!(await isTaken(`${id}-${n}`))) return `${id}-${n}`
}

export const duplicate = (project: string, what: string, id: string, suggestion: string) =>
  new CoworkError('duplicate_id', `${project} has a ${what} ${id} already.`, {
    hint: 'Take the suggestion, or change the one that is there.',
    details: { suggestion },
  })
