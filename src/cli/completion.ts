import type { Command, Option } from 'commander'
import type { Shell } from './choices.ts'

type Word = { readonly word: string; readonly about: string }

/** What may follow each command: the path is its words, each after a space. */
type Stop = {
  readonly path: string
  readonly words: readonly Word[]
  /** Options of this command that choose from words. */
  readonly choices: readonly { readonly flag: string; readonly words: readonly string[] }[]
}

export function completionScript(root: Command, shell: Shell): string {
  const stops = stopsOf(root, '')
  const taking = [...new Set(optionsIn(root).filter(takesValue).flatMap(flagsOf))].toSorted()
  return { bash, zsh, fish }[shell](stops, taking)
}

function stopsOf(command: Command, path: string): Stop[] {
  const children = command.commands.filter((one) => !isHidden(one))
  const names = children.map((one) => ({ word: one.name(), about: one.description() }))
  const choices = command.registeredArguments
    .slice(0, 1)
    .flatMap(({ argChoices = [] }) => argChoices.map((word) => ({ word, about: '' })))
  const options = visible(command).flatMap((option) => {
    const [flag] = flagsOf(option)
    return flag === undefined ? [] : [{ word: flag, about: option.description }]
  })
  const chosen = visible(command).flatMap((option) =>
    flagsOf(option).flatMap((flag) =>
      option.argChoices ? [{ flag, words: option.argChoices }] : [],
    ),
  )
  return [
    { path, words: [...names, ...choices, ...options], choices: chosen },
    ...children.flatMap((one) => stopsOf(one, `${path} ${one.name()}`)),
  ]
}

// Commander keeps this to itself, but for the help it writes.
const isHidden = (command: Command) =>
  command.parent?.createHelp().visibleCommands(command.parent).includes(command) === false

const visible = (command: Command) => command.options.filter((option) => !option.hidden)

const optionsIn = (command: Command): Option[] => [
  ...visible(command),
  ...command.commands.flatMap(optionsIn),
]

const takesValue = (option: Option) => option.required || option.optional

const flagsOf = ({ long, short }: Option): string[] => [long, short].flatMap((flag) => flag ?? [])

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
const paths = (stops: readonly Stop[], between: string) =>
  stops
    .filter(({ path }) => path !== '')
    .map(({ path }) => quoted(path))
    .join(between)

const values = (stops: readonly Stop[]) =>
  stops.flatMap(({ path, choices }) =>
    choices.map(({ flag, words }) => ({ path, flag, spot: `${path} ${flag}`, words })),
  )

const bash = (stops: readonly Stop[], taking: readonly string[]) => `# cowork completion bash
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
      `    ${quoted(spot)}) COMPREPLY=($(compgen -W ${quoted(words.join(' '))} -- "$cur")); return ;;`,
  )
  .join('\n')}
  esac
  case \${COMP_WORDS[COMP_CWORD - 1]} in
    ${taking.join(' | ')}) return ;;
  esac
  case $path in
${stops.map(({ path, words }) => `    ${quoted(path)}) words=${quoted(words.map(({ word }) => word).join(' '))} ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _cowork cowork
`

const zsh = (stops: readonly Stop[], taking: readonly string[]) => `#compdef cowork
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
  .map(({ spot, words }) => `    (${quoted(spot)}) compadd ${words.join(' ')}; return ;;`)
  .join('\n')}
  esac
  case $words[CURRENT-1] in
    (${taking.join('|')}) _files; return ;;
  esac
  case $spot in
${stops.map(({ path, words }) => `    (${quoted(path)}) found=(${words.map(described).join(' ')}) ;;`).join('\n')}
  esac
  _describe cowork found || _files
}
compdef _cowork cowork
`

const described = ({ word, about }: Word) =>
  quoted([word.replaceAll(':', '\\:'), ...(about ? [about] : [])].join(':'))

const fish = (stops: readonly Stop[], taking: readonly string[]) => `# cowork completion fish
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
    ({ path, flag, words }) => `${fishAt(path)} ${fishFlag(flag)} -x -a ${quoted(words.join(' '))}`,
  )
  .join('\n')}
`

function fishLine(path: string, { word, about }: Word, taking: readonly string[]): string {
  const isTaking = taking.includes(word) ? ' -r' : ''
  const what = word.startsWith('-') ? `${fishFlag(word)}${isTaking}` : `-f -a ${word}`
  return `${fishAt(path)} ${what}${about ? ` -d ${quoted(about)}` : ''}`
}

const fishAt = (path: string) => `complete -c cowork -n ${quoted(`__cowork_at ${quoted(path)}`)}`
const fishFlag = (flag: string) =>
  flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`
