import { stringify } from 'yaml'
import { configJsonSchema } from '#base/config/index.ts'

type Schema = {
  readonly description?: string
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly deprecated?: boolean
}

/** Every setting with its description and default, commented out: what a person may change, in the file itself. */
export function renderConfigTemplate(): string {
  const { properties = {} } = configJsonSchema() as Schema
  return Object.entries(properties)
    .map(([name, schema]) => settingLines(name, schema).map((line) => `# ${line}`.trimEnd()))
    .map((lines) => lines.join('\n'))
    .join('\n#\n')
}

function settingLines(name: string, schema: Schema): string[] {
  const about = comment(schema.description)
  const inner = propertiesOf(schema)
  if (!inner) return [...about, ...valueLines(name, schema.default)]
  const lines = Object.entries(inner)
    .filter(([, one]) => !one.deprecated)
    .flatMap(([key, one]) => settingLines(key, one))
    .map((line) => `  ${line}`)
  const whole = [`${name}:`, ...lines]
  // What may be left out as a whole has parts that may not be.
  return [...about, ...(schema.default === undefined ? whole.map((line) => `# ${line}`) : whole)]
}

/** A value that has no default stands in a comment of its own, so that removing one # of each line gives a valid file. */
const valueLines = (name: string, value: unknown): string[] =>
  value === undefined
    ? [`# ${name}:`]
    : stringify({ [name]: value }, { lineWidth: 0 })
        .trimEnd()
        .split('\n')

function propertiesOf(schema: Schema): Schema['properties'] {
  const forms = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  return forms.find(({ properties }) => properties)?.properties
}

const width = 92

function comment(text = ''): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const last = lines.at(-1)
    if (last === undefined || last.length + word.length >= width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines.map((line) => `# ${line}`)
}
