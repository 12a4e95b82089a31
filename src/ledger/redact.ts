import { CoworkError } from '#base/errors.ts'
import { isIntegerKey, sha256Hex } from '#base/hash.ts'
import { createScrubber, isSecretName, redactionMark } from './secrets.ts'
import type { SecretSettings } from './secrets.ts'

type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject
export type JsonObject = { [key: string]: JsonValue }

/** Copies a value as JSON without secrets. Throws for values that cannot be checked, so that they are not recorded. */
export type Redact = {
  (text: string): string
  (value: unknown): JsonValue
  toCanonical(value: unknown): CanonicalCopy
  /** Keeps the order of keys for people and uses another limit, in characters of JSON. */
  withLimit(value: unknown, limit: number): JsonValue
}

/** A copy. If `isSorted`, its JSON.stringify output is canonical. */
export type CanonicalCopy = { readonly copy: JsonValue; readonly isSorted: boolean }

const maxDepth = 64
/** Characters of JSON. */
const maxCharacters = 256 * 1024
const maxCachedNames = 4096

/**
 * Creates the redactor (L3). Measured: 0.8 µs for a call with four arguments, 3 µs for an entry (10 with one pattern of
 * the owner), 0.1 s for the worst known hostile text, which has the maximum size.
 */
export function createRedactor(settings: SecretSettings): Redact {
  const { scrub, canMatchNumbers } = createScrubber(settings)
  // Keys repeat in almost every entry. Only keys that need no redaction and no reordering are cached.
  const nameCache = new Map<string, boolean>()

  function redactName(key: string, budget: Budget): { name: string; secret: boolean } {
    const known = nameCache.get(key)
    if (known !== undefined) return { name: key, secret: known }
    const name = scrub(key)
    const secret = isSecretName(key) || isSecretName(name)
    if (name !== key || isIntegerKey(key)) budget.isInOrder = false
    else if (key.length <= 64) {
      if (nameCache.size >= maxCachedNames) nameCache.clear()
      nameCache.set(key, secret)
    }
    return { name, secret }
  }

  function redactText(text: string, budget: Budget): string {
    spend(budget, text.length + 3)
    const clean = scrub(text)
    if (clean.length > text.length) spend(budget, clean.length - text.length)
    return clean
  }

  function redactNumber(number: number, budget: Budget): number | string | null {
    spend(budget, 8)
    if (!Number.isFinite(number)) return null
    return canMatchNumbers && scrub(String(number)) !== String(number) ? redactionMark : number
  }

  function redactObject(object: object, depth: number, budget: Budget): JsonObject {
    const copy: JsonObject = {}
    const keys = Object.keys(object)
    // Sorted here, so that the canonical form needs no sorting later.
    if (budget.isSorted) keys.sort()
    for (const key of keys) {
      const item: unknown = Reflect.get(object, key)
      if (item === undefined) continue
      spend(budget, key.length + 4)
      const { name, secret } = redactName(key, budget)
      if (!budget.isInOrder && Object.hasOwn(copy, name))
        throw notRecordableError('two keys are equal after redaction')
      const hidden = secret && item !== null && typeof item !== 'boolean'
      const kept = hidden ? redactText(redactionMark, budget) : redactValue(item, depth, budget)
      // An assignment to `__proto__` would set the prototype and lose the value.
      if (name === '__proto__') Object.defineProperty(copy, name, { ...dataProperty, value: kept })
      else copy[name] = kept
    }
    return copy
  }

  function redactValue(item: unknown, depth: number, budget: Budget): JsonValue {
    if (typeof item === 'string') return redactText(item, budget)
    if (typeof item === 'number') return redactNumber(item, budget)
    if (typeof item === 'boolean' || item === undefined || item === null) {
      spend(budget, 5)
      return item ?? null
    }
    if (typeof item !== 'object') throw notRecordableError(`it contains a ${typeof item}`)
    // Also rejects a value that contains itself.
    if (depth >= maxDepth) throw notRecordableError(`it is nested deeper than ${maxDepth} levels`)
    spend(budget, 2)
    if (Array.isArray(item))
      return Array.from(item, (each: unknown) => redactValue(each, depth + 1, budget))
    if (item instanceof Date) return redactValue(toIsoTime(item), depth, budget)
    if (item instanceof Uint8Array)
      return redactObject({ bytes: item.length, sha256: sha256Hex(item) }, depth + 1, budget)
    const prototype: unknown = Object.getPrototypeOf(item)
    if (prototype !== Object.prototype && prototype !== null)
      throw notRecordableError(
        `it contains ${Object.prototype.toString.call(item)}, which is not plain data`,
      )
    return redactObject(item, depth + 1, budget)
  }

  function redact(text: string): string
  function redact(value: unknown): JsonValue
  function redact(value: unknown): JsonValue {
    return redactValue(value, 0, createBudget(maxCharacters))
  }
  redact.toCanonical = (value: unknown): CanonicalCopy => {
    const budget = createBudget(maxCharacters)
    const copy = redactValue(value, 0, budget)
    return { copy, isSorted: budget.isInOrder }
  }
  redact.withLimit = (value: unknown, limit: number) =>
    redactValue(value, 0, createBudget(limit, false))
  return redact
}

type Budget = {
  remaining: number
  readonly limit: number
  readonly isSorted: boolean
  isInOrder: boolean
}

const createBudget = (limit: number, isSorted = true): Budget => ({
  remaining: limit,
  limit,
  isSorted,
  isInOrder: isSorted,
})

function spend(budget: Budget, characters: number) {
  budget.remaining -= characters
  if (budget.remaining < 0)
    throw notRecordableError(`it is larger than ${Math.floor(budget.limit / 1024)} KiB`)
}

const dataProperty = { enumerable: true, configurable: true, writable: true }

const toIsoTime = (date: Date) => (Number.isNaN(date.getTime()) ? null : date.toISOString())

const notRecordableError = (why: string) =>
  new CoworkError('not_recordable', `Refused: the call cannot be recorded (${why}).`, {
    hint: 'Send plain JSON; write large content to a file and pass its path.',
  })
