/**
 * Files that another program obeys or runs without asking again (F5): writing one is high risk wherever it lies.
 * Names are in lower case. Ordinary project files that run when somebody builds (`package.json`, `Makefile`) are not
 * here: people expect agents to write them.
 */
type Group = {
  /** Follows "because" in what a person reads. */
  readonly reason: string
  /** A file or a folder of this name, with all that lies in it. */
  readonly names?: readonly string[]
  /** The same for every name that begins so. */
  readonly beginnings?: readonly string[]
  /** A file of this name: as a folder it is like any other. */
  readonly files?: readonly string[]
  readonly endings?: readonly string[]
  /** Names in a row, such as a folder in a folder. */
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
    beginnings: list('.aider .cline .roo .kilo .windsurf'),
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
    endings: list('.instructions.md .prompt.md .chatmode.md'),
    paths: [
      ['.github', 'instructions'],
      ['.github', 'prompts'],
      ['.github', 'agents'],
      ['.github', 'chatmodes'],
      ['.github', 'skills'],
    ],
  },
  {
    reason: 'git runs what stands in it',
    names: list('.husky .githooks .lefthook .hg'),
    beginnings: list('lefthook. .lefthook. lefthook-local. .lefthook-local. .pre-commit-'),
    // A folder with a HEAD is a repository to git, whatever its name, and its config names programs.
    files: list('head .gitconfig .gitmodules .hgrc .overcommit.yml'),
  },
  {
    reason: 'a build server runs what stands in it',
    names: list('.circleci .buildkite .woodpecker'),
    beginnings: list('.gitlab-ci azure-pipelines. .woodpecker.'),
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
    reason: 'a development container runs what stands in it',
    names: list('.devcontainer'),
    files: list('.devcontainer.json devcontainer.json .gitpod.yml .gitpod.dockerfile'),
  },
  {
    reason: 'a shell runs it when it starts',
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
    reason: 'a program runs it when it starts',
    files: list(
      `.rprofile .gdbinit .lldbinit .irbrc .pryrc .pythonrc .psqlrc .sqliterc sitecustomize.py usercustomize.py`,
    ),
  },
  {
    reason: 'a package manager obeys it',
    beginnings: list('.yarnrc .pnpmfile.'),
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
    reason: 'it starts a program when it is opened',
    endings: list('.desktop .lnk .url .command'),
  },
  {
    reason: 'an editor runs commands that stand in it',
    names: list('.vscode .idea .zed .fleet .vim .nvim .vs'),
    files: list('.vimrc .exrc .gvimrc .nvimrc .nvim.lua .emacs .dir-locals.el'),
    endings: list('.code-workspace .sublime-project'),
  },
  {
    reason: 'it is run when the user logs in',
    names: list('autostart launchagents launchdaemons'),
    paths: [['systemd', 'user']],
  },
]

const gitReason = 'git runs what stands in it'

/** Files that git runs or follows in a repository without a `.git` folder. */
const gitRunsFrom = new Set(list('hooks config config.worktree modules worktrees commondir'))

/** All of `.git`, which may be a file that names another folder; of a bare `x.git` itself and what git runs from. */
const isGits = (names: readonly string[]): boolean =>
  names.some(
    (name, place) =>
      name === '.git' ||
      (name.endsWith('.git') &&
        (place === names.length - 1 || gitRunsFrom.has(names[place + 1] ?? ''))),
  )

/** Windows gives a name that begins with a dot a short one: `.claude` is `CLAUDE~1`, `.mcp.json` is `MCP~1.JSO`. */
const shortOf = (name: string): string =>
  (name.slice(1).split('.')[0] ?? '').replaceAll(/[^a-z0-9_-]/g, '').slice(0, 6)
const isShort = /^([^~.]{1,6})~\d+(?:\.[^.]{0,3})?$/

type Ready = {
  readonly reason: string
  readonly names: ReadonlySet<string>
  readonly files: ReadonlySet<string>
  readonly shorts: ReadonlySet<string>
  readonly beginnings: readonly string[]
  readonly endings: readonly string[]
  readonly paths: readonly (readonly string[])[]
}

const ready: readonly Ready[] = groups.map((group) => {
  const { reason, names = [], files = [], beginnings = [], endings = [], paths = [] } = group
  const dotted = [...names, ...files, ...beginnings, ...paths.flat()].filter((one) =>
    one.startsWith('.'),
  )
  return {
    reason,
    names: new Set(names),
    files: new Set(files),
    shorts: new Set(dotted.map(shortOf)),
    beginnings,
    endings,
    paths,
  }
})

const holds = (names: readonly string[], path: readonly string[]): boolean =>
  names.some((_, at) => path.every((name, place) => names[at + place] === name))

function isOf(group: Ready, names: readonly string[]): boolean {
  const last = names.at(-1) ?? ''
  return (
    names.some((name) => group.names.has(name)) ||
    group.files.has(last) ||
    group.endings.some((ending) => last.endsWith(ending)) ||
    group.beginnings.some((beginning) => names.some((name) => name.startsWith(beginning))) ||
    group.paths.some((path) => holds(names, path)) ||
    names.some((name) => name.includes('~') && group.shorts.has(isShort.exec(name)?.[1] ?? '~'))
  )
}

/** Why writing the file of this path is high risk; undefined for one like any other. Takes names in lower case. */
export const guardedReason = (names: readonly string[]): string | undefined =>
  isGits(names) || names.some((name) => /^git~\d+$/.test(name))
    ? gitReason
    : ready.find((group) => isOf(group, names))?.reason
