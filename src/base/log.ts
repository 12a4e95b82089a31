export type Level = 'debug' | 'info' | 'warn' | 'error'
type Fields = Record<string, unknown>

/** For operators. What must be accountable goes to the ledger; the two never mix. */
export type Log = {
  [level in Level]: (message: string, fields?: Fields) => void
} & { scope(name: string): Log }

const order: readonly Level[] = ['debug', 'info', 'warn', 'error']

export type LogOptions = {
  readonly level: Level
  /** stderr always: stdout belongs to MCP over stdio and to data. */
  readonly write: (line: string) => void
  /** One JSON object a line for machines, a plain line for a terminal. */
  readonly json: boolean
  readonly now?: () => number
}

export function createLog(options: LogOptions, scope?: string): Log {
  const now = options.now ?? Date.now
  const say =
    (level: Level) =>
    (message: string, fields: Fields = {}) => {
      if (order.indexOf(level) < order.indexOf(options.level)) return
      const at = new Date(now()).toISOString()
      options.write(
        options.json
          ? `${JSON.stringify({ at, level, scope, message, ...fields })}\n`
          : `${at} ${level.padEnd(5)} ${scope ? `${scope}: ` : ''}${message}${trail(fields)}\n`,
      )
    }
  return {
    debug: say('debug'),
    info: say('info'),
    warn: say('warn'),
    error: say('error'),
    scope: (name) => createLog(options, scope ? `${scope}.${name}` : name),
  }
}

const trail = (fields: Fields) =>
  Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('')

export const silentLog: Log = createLog({ level: 'error', write: () => undefined, json: false })
