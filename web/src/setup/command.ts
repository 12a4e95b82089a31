/** Formats a shell command with the launcher that the daemon reports. */
export const commandLine = (words: readonly string[] = ['cowork'], ...rest: readonly string[]) =>
  [...words, ...rest].map(quoteWord).join(' ')

/** Replaces `cowork` in the commands of a text, which are in backticks, by the launcher. */
export const formatCommands = (text: string, words: readonly string[] | undefined): string =>
  text.replaceAll(/`cowork(?= )/g, () => `\`${commandLine(words)}`)

/** Quotes a word for POSIX shells, or with double quotes if it has the backslashes of a Windows path. */
function quoteWord(word: string): string {
  if (/^[\w@%+=:,./~-]+$/.test(word)) return word
  return word.includes('\\') ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`
}
