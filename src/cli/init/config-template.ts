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

/** Renders every setting with description and default as comments, so that the file documents itself. */
export function renderConfigTemplate(): string {
  const { properties = {} } = configJsonSchema() as Schema
  return Object.entries(properties)
    .map(([name, schema]) => settingLines(name, schema).map((line) => `# ${line}`.trimEnd()))
    .map((lines) => lines.join('\n'))
    .join('\n#\n')
}

function settingLines(name: string, schema: Schema): string[] {
  const about = formatComment(schema.description)
  const inner = findProperties(schema)
  if (!inner) return [...about, ...valueLines(name, schema.default)]
  const lines = Object.entries(inner)
    .filter(([, property]) => !property.deprecated)
    .flatMap(([key, property]) => settingLines(key, property))
    .map((line) => `  ${line}`)
  const section = [`${name}:`, ...lines]
  // An optional section can have required properties.
  return [
    ...about,
    ...(schema.default === undefined ? section.map((line) => `# ${line}`) : section),
  ]
}

/** Comments out a value without default twice, so that removing one # of each line gives a valid file. */
const valueLines = (name: string, value: unknown): string[] =>
  value === undefined
    ? [`# ${name}:`]
    : stringify({ [name]: value }, { lineWidth: 0 })
        .trimEnd()
        .split('\n')

function findProperties(schema: Schema): Schema['properties'] {
  const forms = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  return forms.find(({ properties }) => properties)?.properties
}

const width = 92

function formatComment(text = ''): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const last = lines.at(-1)
    if (last === undefined || last.length + word.length >= width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines.map((line) => `# ${line}`)
}
