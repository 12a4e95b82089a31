/**
 * Files that another program obeys or runs without asking (F5). Writing such a file is high risk in any folder.
 * Names are in lower case. The list excludes project files that run during a build (`package.json`, `Makefile`):
 * people expect agents to write them.
 */
type Group = {
  /** Follows "because" in the text for people. */
  readonly reason: string
  /** Names of files, and of folders with all of their content. */
  readonly names?: readonly string[]
  /** Prefixes of such names. */
  readonly prefixes?: readonly string[]
  /** Names of files only: a folder with the name is not guarded. */
  readonly files?: readonly string[]
  readonly suffixes?: readonly string[]
  /** Consecutive names in a path. */
  readonly paths?: readonly (readonly string[])[]
}

const list = (text: string): readonly string[] => text.trim().split(/\s+/)

const groups: readonly Group[] = [
  {
    reason: 'it configures AI clients',
    names: list(
      `.claude .cursor .codex .gemini .windsurf .codeium .continue .amazonq .kiro .junie .augment .opencode .qwen
       .trae .goose .copilot .agents .agent .crush .openhands .factory .tabnine .zencoder .claude-plugin
       .cursor-plugin`,
    ),
    prefixes: list('.aider .cline .roo .kilo .windsurf'),
    files: list(
      `.mcp.json mcp.json mcp_config.json mcp_settings.json mcp-config.json cline_mcp_settings.json
       claude_desktop_config.json .claude.json opencode.json opencode.jsonc crush.json .crush.json .goosehints`,
    ),
  },
  {
    reason: 'agents take instructions from it',
    files: list(
      `claude.md claude.local.md agent.md agents.md agents.override.md gemini.md qwen.md crush.md warp.md
       copilot-instructions.md .cursorrules .rules`,
    ),
    suffixes: list('.instructions.md .prompt.md .chatmode.md'),
    paths: [
      ['.github', 'instructions'],
      ['.github', 'prompts'],
      ['.github', 'agents'],
      ['.github', 'chatmodes'],
      ['.github', 'skills'],
    ],
  },
  {
    reason: 'Git runs commands from it',
    names: list('.husky .githooks .lefthook .hg'),
    prefixes: list('lefthook. .lefthook. lefthook-local. .lefthook-local. .pre-commit-'),
    // Git treats any folder with a HEAD file as a repository, and its config names programs.
    files: list('head .gitconfig .gitmodules .hgrc .overcommit.yml'),
  },
  {
    reason: 'a build server runs commands from it',
    names: list('.circleci .buildkite .woodpecker'),
    prefixes: list('.gitlab-ci azure-pipelines. .woodpecker.'),
    files: list(
      `bitbucket-pipelines.yml jenkinsfile .travis.yml .drone.yml appveyor.yml .appveyor.yml .cirrus.yml`,
    ),
    paths: [
      ['.github', 'workflows'],
      ['.github', 'actions'],
      ['.forgejo', 'workflows'],
      ['.gitea', 'workflows'],
      ['.gitlab', 'ci'],
    ],
  },
  {
    reason: 'a development container runs commands from it',
    names: list('.devcontainer'),
    files: list('.devcontainer.json devcontainer.json .gitpod.yml .gitpod.dockerfile'),
  },
  {
    reason: 'a shell runs it at startup',
    files: list(
      `.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .bash_env .profile .zshrc .zshenv .zprofile
       .zlogin .zlogout .kshrc .mkshrc .shrc .cshrc .tcshrc .login .logout .xinitrc .xsession .xprofile .inputrc
       .xonshrc config.fish .envrc .mise.toml mise.toml .screenrc .tmux.conf profile.ps1
       microsoft.powershell_profile.ps1`,
    ),
    paths: [
      ['fish', 'conf.d'],
      ['fish', 'functions'],
    ],
  },
  {
    reason: 'a program runs it at startup',
    files: list(
      `.rprofile .gdbinit .lldbinit .irbrc .pryrc .pythonrc .psqlrc .sqliterc sitecustomize.py usercustomize.py`,
    ),
  },
  {
    reason: 'a package manager obeys it',
    prefixes: list('.yarnrc .pnpmfile.'),
    files: list(
      `.npmrc .pnpmrc pip.conf pip.ini .pypirc .pydistutils.cfg .condarc .gemrc .bunfig.toml bunfig.toml .curlrc
       .wgetrc`,
    ),
    paths: [
      ['.cargo', 'config'],
      ['.cargo', 'config.toml'],
      ['.bundle', 'config'],
      ['.yarn', 'releases'],
      ['.yarn', 'plugins'],
    ],
  },
  {
    reason: 'opening it starts a program',
    suffixes: list('.desktop .lnk .url .command'),
  },
  {
    reason: 'an editor runs commands from it',
    names: list('.vscode .idea .zed .fleet .vim .nvim .vs'),
    files: list('.vimrc .exrc .gvimrc .nvimrc .nvim.lua .emacs .dir-locals.el'),
    suffixes: list('.code-workspace .sublime-project'),
  },
  {
    reason: 'it runs when the user logs in',
    names: list('autostart launchagents launchdaemons'),
    paths: [['systemd', 'user']],
  },
]

const gitReason = 'Git runs commands from it'

/** Files that Git runs or follows in a repository without a `.git` folder. */
const gitInternalNames = new Set(list('hooks config config.worktree modules worktrees commondir'))

/**
 * Matches all of `.git`, which may be a file that names another folder. Of a bare repository `x.git`, matches the folder
 * itself and the files that Git runs or follows.
 */
const isGitPath = (names: readonly string[]): boolean =>
  names.some(
    (name, index) =>
      name === '.git' ||
      (name.endsWith('.git') &&
        (index === names.length - 1 || gitInternalNames.has(names[index + 1] ?? ''))),
  )

/** The stem of the short name that Windows gives a dotfile: `.claude` is `CLAUDE~1`, `.mcp.json` is `MCP~1.JSO`. */
const toShortName = (name: string): string =>
  (name.slice(1).split('.')[0] ?? '').replaceAll(/[^a-z0-9_-]/g, '').slice(0, 6)
const shortName = /^([^~.]{1,6})~\d+(?:\.[^.]{0,3})?$/

type GroupMatcher = {
  readonly reason: string
  readonly names: ReadonlySet<string>
  readonly files: ReadonlySet<string>
  readonly shorts: ReadonlySet<string>
  readonly prefixes: readonly string[]
  readonly suffixes: readonly string[]
  readonly paths: readonly (readonly string[])[]
}

const matchers: readonly GroupMatcher[] = groups.map((group) => {
  const { reason, names = [], files = [], prefixes = [], suffixes = [], paths = [] } = group
  const dotted = [...names, ...files, ...prefixes, ...paths.flat()].filter((name) =>
    name.startsWith('.'),
  )
  return {
    reason,
    names: new Set(names),
    files: new Set(files),
    shorts: new Set(dotted.map(toShortName)),
    prefixes,
    suffixes,
    paths,
  }
})

const containsPath = (names: readonly string[], path: readonly string[]): boolean =>
  names.some((_, at) => path.every((name, place) => names[at + place] === name))

function matchesGroup(group: GroupMatcher, names: readonly string[]): boolean {
  const last = names.at(-1) ?? ''
  return (
    names.some((name) => group.names.has(name)) ||
    group.files.has(last) ||
    group.suffixes.some((ending) => last.endsWith(ending)) ||
    group.prefixes.some((beginning) => names.some((name) => name.startsWith(beginning))) ||
    group.paths.some((path) => containsPath(names, path)) ||
    names.some((name) => name.includes('~') && group.shorts.has(shortName.exec(name)?.[1] ?? '~'))
  )
}

/** Returns why writing the file at this path is high risk, or undefined. Takes the path's names in lower case. */
export const guardedReason = (names: readonly string[]): string | undefined =>
  isGitPath(names) || names.some((name) => /^git~\d+$/.test(name))
    ? gitReason
    : matchers.find((group) => matchesGroup(group, names))?.reason
