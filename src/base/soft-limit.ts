import * as z from 'zod'

/** Numbers that only bound effort, such as a limit. Out of range they are clamped, not refused (SV27). */
const efforts = z.registry<{ readonly isEffort: true }>()

export const effort = (schema: z.ZodNumber): z.ZodNumber =>
  schema.register(efforts, { isEffort: true })

/** Returns the nearest value in range if the schema is a soft limit and the value is a number out of range. */
export function clamp(schema: z.core.$ZodType, value: unknown): number | undefined {
  const number = unwrap(schema)
  if (!(number instanceof z.ZodNumber) || typeof value !== 'number' || !efforts.has(number))
    return undefined
  const clamped = Math.min(Math.max(value, number.minValue ?? value), number.maxValue ?? value)
  return clamped === value ? undefined : clamped
}

/** Removes `optional`, `default` and `nullable` from a schema. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  const isWrapped =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodNullable
  return isWrapped ? unwrap(schema.def.innerType) : schema
}
