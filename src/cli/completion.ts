import type { Command, Option } from 'commander'
import type { Shell } from './choices.ts'

type Word = { readonly word: string; readonly about: string }

/** Words that can follow a command. `path` is the command's words, each after a space. */
type CompletionNode = {
  readonly path: string
  readonly words: readonly Word[]
  /** Options of this command with a fixed set of values. */
  readonly choices: readonly { readonly flag: string; readonly words: readonly string[] }[]
}

export function completionScript(root: Command, shell: Shell): string {
  const stops = collectNodes(root, '')
  const flagsWithValue = [
    ...new Set(collectOptions(root).filter(takesValue).flatMap(listFlags)),
  ].toSorted()
  return { bash, zsh, fish }[shell](stops, flagsWithValue)
}

function collectNodes(command: Command, path: string): CompletionNode[] {
  const children = command.commands.filter((one) => !isHidden(one))
  const names = children.map((one) => ({ word: one.name(), about: one.description() }))
  const choices = command.registeredArguments
    .slice(0, 1)
    .flatMap(({ argChoices = [] }) => argChoices.map((word) => ({ word, about: '' })))
  const options = visibleOptions(command).flatMap((option) => {
    const [flag] = listFlags(option)
    return flag === undefined ? [] : [{ word: flag, about: option.description }]
  })
  const chosen = visibleOptions(command).flatMap((option) =>
    listFlags(option).flatMap((flag) =>
      option.argChoices ? [{ flag, words: option.argChoices }] : [],
    ),
  )
  return [
    { path, words: [...names, ...choices, ...options], choices: chosen },
    ...children.flatMap((one) => collectNodes(one, `${path} ${one.name()}`)),
  ]
}

// Commander exposes this only through its help.
const isHidden = (command: Command) =>
  command.parent?.createHelp().visibleCommands(command.parent).includes(command) === false

const visibleOptions = (command: Command) => command.options.filter((option) => !option.hidden)

const collectOptions = (command: Command): Option[] => [
  ...visibleOptions(command),
  ...command.commands.flatMap(collectOptions),
]

const takesValue = (option: Option) => option.required || option.optional

const listFlags = ({ long, short }: Option): string[] => [long, short].flatMap((flag) => flag ?? [])

const shellQuote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
const paths = (stops: readonly CompletionNode[], between: string) =>
  stops
    .filter(({ path }) => path !== '')
    .map(({ path }) => shellQuote(path))
    .join(between)

const values = (stops: readonly CompletionNode[]) =>
  stops.flatMap(({ path, choices }) =>
    choices.map(({ flag, words }) => ({ path, flag, spot: `${path} ${flag}`, words })),
  )

const bash = (
  stops: readonly CompletionNode[],
  taking: readonly string[],
) => `# cowork completion bash
_cowork() {
  local cur=\${COMP_WORDS[COMP_CWORD]} path='' words='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path \${COMP_WORDS[i]}" in
      ${paths(stops, ' | ')}) path="$path \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$path \${COMP_WORDS[COMP_CWORD - 1]}" in
${values(stops)
  .map(
    ({ spot, words }) =>
      `    ${shellQuote(spot)}) COMPREPLY=($(compgen -W ${shellQuote(words.join(' '))} -- "$cur")); return ;;`,
  )
  .join('\n')}
  esac
  case \${COMP_WORDS[COMP_CWORD - 1]} in
    ${taking.join(' | ')}) return ;;
  esac
  case $path in
${stops.map(({ path, words }) => `    ${shellQuote(path)}) words=${shellQuote(words.map(({ word }) => word).join(' '))} ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _cowork cowork
`

const zsh = (stops: readonly CompletionNode[], taking: readonly string[]) => `#compdef cowork
_cowork() {
  local spot='' word
  local -a found
  for word in $words[2,CURRENT-1]; do
    case "$spot $word" in
      (${paths(stops, '|')}) spot="$spot $word" ;;
    esac
  done
  case "$spot $words[CURRENT-1]" in
${values(stops)
  .map(({ spot, words }) => `    (${shellQuote(spot)}) compadd ${words.join(' ')}; return ;;`)
  .join('\n')}
  esac
  case $words[CURRENT-1] in
    (${taking.join('|')}) _files; return ;;
  esac
  case $spot in
${stops.map(({ path, words }) => `    (${shellQuote(path)}) found=(${words.map(formatZshWord).join(' ')}) ;;`).join('\n')}
  esac
  _describe cowork found || _files
}
compdef _cowork cowork
`

const formatZshWord = ({ word, about }: Word) =>
  shellQuote([word.replaceAll(':', '\\:'), ...(about ? [about] : [])].join(':'))

const fish = (
  stops: readonly CompletionNode[],
  taking: readonly string[],
) => `# cowork completion fish
function __cowork_at
  set -l spot ''
  for word in (commandline -opc)[2..]
    switch "$spot $word"
      case ${paths(stops, ' ')}
        set spot "$spot $word"
    end
  end
  test "$spot" = "$argv[1]"
end
${stops.flatMap(({ path, words }) => words.map((word) => fishLine(path, word, taking))).join('\n')}
${values(stops)
  .map(
    ({ path, flag, words }) =>
      `${fishCondition(path)} ${fishFlag(flag)} -x -a ${shellQuote(words.join(' '))}`,
  )
  .join('\n')}
`

function fishLine(path: string, { word, about }: Word, taking: readonly string[]): string {
  const required = taking.includes(word) ? ' -r' : ''
  const what = word.startsWith('-') ? `${fishFlag(word)}${required}` : `-f -a ${word}`
  return `${fishCondition(path)} ${what}${about ? ` -d ${shellQuote(about)}` : ''}`
}

const fishCondition = (path: string) =>
  `complete -c cowork -n ${shellQuote(`__cowork_at ${shellQuote(path)}`)}`
const fishFlag = (flag: string) =>
  flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`
