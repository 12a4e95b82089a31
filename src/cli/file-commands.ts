import { Option } from 'commander'
import type { Command } from 'commander'
import { grantPermissions, grantScopes, searchPlaces } from './choices.ts'
import { count, positive } from './option-kinds.ts'
import type { Add } from './program.ts'

const where = '\nA relative path is in the workspace; an absolute one must be granted.'

/** What agents keep, what they deleted, and what they may see of the user's own files. */
export function fileCommands(program: Command, add: Add): void {
  browseCommands(program, add)
  trashCommands(program, add)
  grantCommands(program, add)
  workspaceCommands(program, add)
}

function browseCommands(program: Command, add: Add): void {
  const files = program.command('files').description('the files that agents work with')
  add(files, 'ls [path]', 'what is in a folder', async (context, command) =>
    (await import('./files.ts')).listFiles(context, command.args[0], command.opts()),
  )
    .option('-r, --recursive', 'and in those below')
    .addOption(count(1000))
    .addHelpText('after', where)
  add(files, 'tree [path]', 'the same as a tree', async (context, command) =>
    (await import('./files.ts')).fileTree(context, command.args[0], command.opts()),
  )
    .addOption(new Option('--depth <count>', 'how far down').argParser(positive).default(3))
    .addHelpText('after', where)
  add(files, 'cat <path>', 'its text', async (context, command) =>
    (await import('./cat.ts')).cat(context, command.args[0] ?? '', command.opts()),
  )
    .addOption(new Option('--head <count>', 'the first lines').argParser(positive))
    .addOption(new Option('--tail <count>', 'the last lines').argParser(positive))
    .option('--lines <from-to>', 'these lines, such as 10-20')
    .addHelpText('after', where)
  add(files, 'search <words>', 'files by name, or by what is in them', async (context, command) =>
    (await import('./files.ts')).searchFiles(context, command.args[0] ?? '', command.opts()),
  )
    .option('--content', 'by what is in them')
    .option('--in <where>', `${searchPlaces.join(', ')}, or a folder`, 'workspace')
    .option('--type <extensions...>', 'only of these, such as .md')
    .addOption(count(100))
  add(files, 'versions <path>', 'its earlier contents', async (context, command) =>
    (await import('./versions.ts')).listVersions(context, command.args[0] ?? ''),
  )
  add(
    files,
    'diff <path> [version]',
    'what changed since an earlier content; the newest where none is named',
    async (context, command) =>
      (await import('./versions.ts')).diffVersion(context, command.args[0] ?? '', command.args[1]),
  )
  add(
    files,
    'restore <path> [version]',
    'put an earlier content back; the newest where none is named',
    async (context, command) =>
      (await import('./versions.ts')).restoreVersion(
        context,
        command.args[0] ?? '',
        command.args[1],
      ),
  )
}

function trashCommands(program: Command, add: Add): void {
  const trash = add(program, 'trash', 'what was deleted', async (context, command) =>
    (await import('./trash.ts')).listTrash(context, command.optsWithGlobals()),
  ).addOption(count(100))
  add(trash, 'list', 'list it', async (context, command) =>
    (await import('./trash.ts')).listTrash(context, command.optsWithGlobals()),
  ).addOption(count(100))
  add(trash, 'restore <id>', 'back to where it was', async (context, command) =>
    (await import('./trash.ts')).restoreTrash(context, command.args[0] ?? '', command.opts()),
  ).option('--to <path>', 'to another place')
  add(trash, 'purge [ids...]', 'delete for good', async (context, command) =>
    (await import('./trash.ts')).purgeTrash(context, command.args, command.optsWithGlobals()),
  )
    .option('--all', 'all of it')
    .option('-y, --yes', 'without asking')
}

function grantCommands(program: Command, add: Add): void {
  const agent = () => new Option('--agent <id>', 'only for this agent')
  const grants = add(
    program,
    'grants',
    'what agents may see of your own files',
    async (context, command) =>
      (await import('./grants.ts')).listGrants(context, command.optsWithGlobals()),
  ).addOption(agent())
  add(grants, 'list', 'list them', async (context, command) =>
    (await import('./grants.ts')).listGrants(context, command.optsWithGlobals()),
  ).addOption(agent())
  add(grants, 'show <id|path>', 'one of them', async (context, command) =>
    (await import('./grants.ts')).showGrant(context, command.args[0] ?? ''),
  )
  add(grants, 'add <path>', 'let agents read a file or folder of yours', async (context, command) =>
    (await import('./grants.ts')).addGrant(
      context,
      command.args[0] ?? '',
      command.optsWithGlobals(),
    ),
  )
    .addOption(
      new Option('--permission <what>', 'write creates new files only').choices(grantPermissions),
    )
    .addOption(agent())
    .addOption(new Option('--scope <how-long>', 'how long').choices(grantScopes))
    .option('--until <time>', 'such as 2h, 7d, 2027-03-01 (its end) or 2027-03-01T18:00')
    .option('--hard-links', 'also files with a second name, perhaps elsewhere')
    .option('-y, --yes', 'without asking, also for your whole home folder')
  add(grants, 'revoke <id|path>', 'close it again', async (context, command) =>
    (await import('./grants.ts')).revokeGrant(context, command.args[0] ?? ''),
  )
}

function workspaceCommands(program: Command, add: Add): void {
  const workspace = add(program, 'workspace', 'where agents keep their files', async (context) =>
    (await import('./workspace.ts')).workspaceInfo(context),
  )
  add(workspace, 'info', 'where it is, and how much there is', async (context) =>
    (await import('./workspace.ts')).workspaceInfo(context),
  )
  add(workspace, 'open', 'show it in the file manager', async (context, command) =>
    (await import('./workspace.ts')).openWorkspace(context, command.opts()),
  ).option('--print', 'print its path instead')
  add(
    workspace,
    'choose <folder>',
    'another folder, from the next start on',
    async (context, command) =>
      (await import('./workspace.ts')).chooseWorkspace(context, command.args[0] ?? ''),
  )
}
