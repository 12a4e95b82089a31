/**
 * Finds SQL statements that write. A text that contains one is unreadable (M7): dialects differ too much to trust a
 * parser with their columns. Each verb is matched with the words that follow it, so that "please update the settings"
 * and "create table of contents" stay text.
 */

const verbs =
  /(?<![\p{L}\p{N}_])(?:update|insert|replace|merge|delete|drop|alter|truncate|create|grant|revoke|copy|load|exec|execute|call)(?![\p{L}\p{N}_])/giu

/** White space and comments. MySQL executes comments that start with `/*!`. */
const skipped =
  /(?:\s+|\/\*!\d*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)|\*\/|--[^\n]*(?:\n|$)|#[^\n]*(?:\n|$))*/y
const token =
  /(?<word>[\p{L}_@$][\p{L}\p{N}_@$]*)|(?<quoted>"[^"]{0,200}"|`[^`]{0,200}`|\[[^\]]{0,200}\])|(?<literal>'[^']{0,200}'|\d+)|[\s\S]/uy

/** Tokens to match from a verb on, and the mark of a longer statement. */
const maxTokens = 40
const maxTokenLength = 64
const cutOff = '…$'

const name = String.raw`[^\s(),;='\d][^\s(),;=']*`
const assignment = String.raw`(?:\( [^()]* \)|${name}(?: "")*) (?:[-+*/|&^%:] )*=`
const object =
  'table|view|materialized view|index|database|schema|trigger|function|procedure|proc|sequence|user|role|login'
const condition = String.raw`where .*(?:[=<>]| in \(| like '| is (?:not )?null| exists \(| between )`

/** Statements that no sentence resembles. */
const anywhere = [
  `update (?:or ${name} |only |ignore |low_priority |top \\( .{1,9} \\) )*${name} (?:\\* )?(?:as )?(?:${name} )?set ${assignment}`,
  `update ${name} (?=[^=]*(?:join |, |\\( )).*? set ${assignment}`,
  `update ${name} (?:as )?(?:${name} )?(?:inner |left |cross )?join .*${cutOff}`,
  // After `ON CONFLICT DO` and `WHEN MATCHED THEN`.
  `update set ${assignment}`,
  `(?:insert|replace)(?: or ${name}| ignore| low_priority| delayed| high_priority)* into ${name} (?:"" )*(?:values?|select|default|set|with|table|exec|overriding|partition)(?: |$)`,
  `(?:insert|replace)(?: or ${name}| ignore| low_priority| delayed| high_priority)*(?: into)? ${name} \\( [^()]*(?:${cutOff}|\\) (?:values? [('@?:]|select |default values|with ${name} as \\(|overriding |output ))`,
  `insert (?:into )?${name} (?:values? \\(|default values|select .* from )`,
  `merge (?:into )?${name} (?:as )?(?:${name} )?using (?=.* on ).*(?:=|${cutOff})`,
  `delete (?:${name} )?from (?:only )?${name} (?:as )?(?:${name} )?(?:(?:inner |left )?join .*)?${condition}`,
  `delete ${name} ${condition}`,
  `load data .*infile`,
]

/** Statements that resemble sentences: they count only where a statement can begin. */
const atBeginning = [
  `delete from (?:only )?${name} (?:as )?(?:${name} )?(?:$|[;)]|where|using|returning|limit|order by|(?:inner |left )?join)`,
  `drop (?:${object})(?: if exists)? ${name} (?:$|[;,(]|cascade|restrict|on )`,
  `alter (?:${object})(?: if exists)?(?: only)? ${name} (?:add|drop|rename|alter|modify|change|set|owner|enable|disable|with|as|\\()`,
  `truncate (?:table |only )*${name} (?:$|[;,]|cascade|restart|continue)`,
  `create (?:or (?:replace|alter) )?(?:temp |temporary |unique |unlogged |external |virtual )*(?:${object})(?: if not exists)? ${name} (?:[;(]|as (?:select|with|\\$|'|\\(|begin)|on ${name} (?:\\(|using)|(?:before|after|instead of) (?:insert|update|delete)|with password|identified by|partition of|like ${name} $)`,
  `(?:grant|revoke) (?:grant option for )?(?:select|insert|update|delete|all|usage|execute|create|connect|references|trigger)(?: privileges)?(?: \\(| ,| on) (?=.*(?:to|from) )`,
  `copy ${name} (?:\\([^()]*\\) )?from (?:stdin|program|')`,
  `copy into ${name} .*from (?:@|'|\\()`,
  `execute immediate `,
  `exec(?:ute)? (?:[('@]|""|[^\\s(),;=']*[_.][^\\s(),;=']* |${name} [;@]|${name} '' ,)`,
  `call (?:[^\\s(),;=']*[_.][^\\s(),;=']* |"" )\\(`,
  `call ${name} \\( (?:[)'@:?]|null|true|false)`,
]

const join = (shapes: readonly string[]) => new RegExp(`^(?:${shapes.join('|')})`, 'i')
const isWriteAnywhere = join(anywhere)
const isWriteAtBeginning = join([...anywhere, ...atBeginning])

/** Words and signs that may precede a statement; T-SQL needs no separator between two statements. */
const statementStart =
  /(?:^|[;(){}$]|\*\/|\b(?:begin|then|else|do|as|go|explain|analyze|verbose|atomic))\s*$/i
const startsAsSql =
  /^\s*(?:\/\*|--|#.*\n|;|select\b[^.!?]*(?:\bfrom\b|;|\d)|with\s+(?:recursive\s+)?\S+\s+as\s*\(|begin\b|declare\s+@|if\s+\(?(?:not\s+)?(?:exists|\d|@)|set\s+\S+\s+\w+\s*[;\n]|use\s+\S+\s*[;\n])/i

/** Maximum characters after verbs to match in all texts of one change; beyond this limit a text counts as SQL. */
export const sqlBudget = 500_000

export function writesSql(text: string, budget: { left: number }): boolean {
  const isSql = startsAsSql.test(text)

  /** Returns the next tokens in one spelling: names without quotes, literals without content, single spaces. */
  function shapeAt(start: number): string {
    const words: string[] = []
    let at = start
    while (words.length < maxTokens && budget.left > 0) {
      skipped.lastIndex = at
      skipped.test(text)
      budget.left -= skipped.lastIndex - at
      at = skipped.lastIndex
      token.lastIndex = at
      const groups = token.exec(text)
      if (!groups) break
      const { word, quoted, literal } = groups.groups ?? {}
      const plain = word?.slice(0, maxTokenLength) ?? groups[0]
      words.push(quoted !== undefined ? '""' : literal !== undefined ? "''" : plain)
      budget.left -= token.lastIndex - at
      at = token.lastIndex
    }
    const end = words.length < maxTokens ? '' : '…'
    return `${words.join(' ')} ${end}`.replaceAll(' . ', '.')
  }

  for (const { index } of text.matchAll(verbs)) {
    const isBeginning = isSql || statementStart.test(text.slice(Math.max(0, index - 40), index))
    if ((isBeginning ? isWriteAtBeginning : isWriteAnywhere).test(shapeAt(index))) return true
    if (budget.left <= 0) return true
  }
  return false
}
