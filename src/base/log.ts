export type Level = 'debug' | 'info' | 'warn' | 'error'
type Fields = Record<string, unknown>

/** The log for operators. Accountable events go to the ledger instead. */
export type Log = {
  [level in Level]: (message: string, fields?: Fields) => void
} & { scope(name: string): Log }

const order: readonly Level[] = ['debug', 'info', 'warn', 'error']

export type LogOptions = {
  readonly level: Level
  /** Writes to stderr: stdout is reserved for MCP over stdio and for data. */
  readonly write: (line: string) => void
  /** Whether to write one JSON object per line instead of plain text. */
  readonly json: boolean
  readonly now?: () => number
}

export function createLog(options: LogOptions, scope?: string): Log {
  const now = options.now ?? Date.now
  const createWriter =
    (level: Level) =>
    (message: string, fields: Fields = {}) => {
      if (order.indexOf(level) < order.indexOf(options.level)) return
      const at = new Date(now()).toISOString()
      options.write(
        options.json
          ? `${JSON.stringify({ at, level, scope, message, ...fields })}\n`
          : `${at} ${level.padEnd(5)} ${scope ? `${scope}: ` : ''}${message}${formatFields(fields)}\n`,
      )
    }
  return {
    debug: createWriter('debug'),
    info: createWriter('info'),
    warn: createWriter('warn'),
    error: createWriter('error'),
    scope: (name) => createLog(options, scope ? `${scope}.${name}` : name),
  }
}

const formatFields = (fields: Fields) =>
  Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('')

export const silentLog: Log = createLog({ level: 'error', write: () => undefined, json: false })
