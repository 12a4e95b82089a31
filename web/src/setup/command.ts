/** A line to copy: the words that run `cowork` there, as the daemon knows them, then what it is to do. */
export const commandLine = (words: readonly string[] = ['cowork'], ...rest: readonly string[]) =>
  [...words, ...rest].map(quoted).join(' ')

/** A sentence with its commands, which stand between backticks, as they run there. */
export const formatCommands = (text: string, words: readonly string[] | undefined): string =>
  text.replaceAll(/`cowork(?= )/g, () => `\`${commandLine(words)}`)

/** For every shell the same; a path of Windows has its backslashes. */
function quoted(word: string): string {
  if (/^[\w@%+=:,./~-]+$/.test(word)) return word
  return word.includes('\\') ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`
}
