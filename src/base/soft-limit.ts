import * as z from 'zod'

/** Numbers that only bound effort, such as a limit: out of range they are clamped, not refused (SV27). */
const efforts = z.registry<{ readonly isEffort: true }>()

export const effort = (schema: z.ZodNumber): z.ZodNumber =>
  schema.register(efforts, { isEffort: true })

/** The nearest value in range, where the schema is of this kind and the value is a number outside of it. */
export function clamp(schema: z.core.$ZodType, value: unknown): number | undefined {
  const number = unwrap(schema)
  if (!(number instanceof z.ZodNumber) || typeof value !== 'number' || !efforts.has(number))
    return undefined
  const clamped = Math.min(Math.max(value, number.minValue ?? value), number.maxValue ?? value)
  return clamped === value ? undefined : clamped
}

/** The schema inside of `optional`, `default` and `nullable`. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  const isWrapped =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodNullable
  return isWrapped ? unwrap(schema.def.innerType) : schema
}
