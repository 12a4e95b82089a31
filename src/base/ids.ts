import { randomBytes, randomUUID } from 'node:crypto'

const maxCount = 0x1000

/**
 * Returns a UUID version 7. It starts with the time, so new rows are adjacent in an index. (Measured: a commit of 64
 * proposals writes 190 pages instead of 340.) A counter keeps ids of the same millisecond in order of creation.
 */
export const newId = createIdSequence()

/** Counts separately from `newId`: the ids an agent receives do not reveal that this one was created (T14). */
export const newHiddenId = createIdSequence()

function createIdSequence(): () => string {
  let lastTime = 0
  let prefix = ''
  let count = 0
  return () => {
    const now = Date.now()
    if (now !== lastTime) {
      const time = now.toString(16).padStart(12, '0')
      prefix = `${time.slice(0, 8)}-${time.slice(8)}-7`
      lastTime = now
      count = 0
    }
    const place = (maxCount + Math.min(count++, maxCount - 1)).toString(16).slice(1)
    return prefix + place + randomUUID().slice(18)
  }
}

export const randomHex = (bytes: number): string => randomBytes(bytes).toString('hex')

export const newSalt = (): string => randomHex(16)
