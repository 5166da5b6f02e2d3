import { Argument, Command } from 'commander';
import type { Io, CommandEntry } from './terminal/io.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

const examples = `
The script contains the commands of this version; print it again after an update. It completes ./carillon, too.

Examples:
  carillon completion bash > ~/.local/share/bash-completion/completions/carillon
  carillon completion zsh > ~/.zfunc/_carillon       with ~/.zfunc in fpath
  carillon completion fish > ~/.config/fish/completions/carillon.fish`;

export function completionCommand(io: Io, entries: readonly CommandEntry[]): Command {
  return new Command('completion')
    .description('Print a completion script for a shell')
    .addArgument(new Argument('<shell>').choices(shells))
    .addHelpText('after', examples)
    .action(async (shell: Shell) => {
      io.stdout.write(writers[shell](await readPlaces(io, entries)));
    });
}

interface Place {
  /** Such as `['schedule', 'create']`; empty for the program. */
  words: string[];
  commands: { name: string; says: string }[];
  flags: { name: string; says: string }[];
}

async function readPlaces(io: Io, entries: readonly CommandEntry[]): Promise<Place[]> {
  const top: Place = {
    words: [],
    commands: entries.map(({ name, summary }) => ({ name, says: summary })),
    flags: [
      { name: '--help', says: 'show help' },
      { name: '--version', says: 'print the version' },
    ],
  };
  const loaded = await Promise.all(entries.map(async ({ load }) => (await load())(io)));
  return [top, ...loaded.flatMap((command) => placesOf(command, []))];
}

function placesOf(command: Command, above: string[]): Place[] {
  const words = [...above, command.name()];
  const flags = command.options.flatMap(({ long, description }) => (long == null ? [] : [{ name: long, says: description }]));
  const inner = command.commands.map((sub) => ({ name: sub.name(), says: sub.summary() || sub.description() }));
  const place = { words, commands: inner, flags: [...flags, { name: '--help', says: 'show help' }] };
  return [place, ...command.commands.flatMap((sub) => placesOf(sub, words))];
}

const key = ({ words }: Place): string => words.map((word) => `/${word}`).join('');

/** Shell code for both shells: the commands before the cursor as a path. */
function writeCommandPath(places: readonly Place[], words: string): string {
  const known = places.filter(({ words: path }) => path.length > 0).map(key);
  return [
    `  local place= word`,
    `  for word in ${words}; do`,
    `    case "$place/$word" in`,
    `      ${known.join('|')}) place="$place/$word" ;;`,
    `    esac`,
    `  done`,
  ].join('\n');
}

function writeBash(places: readonly Place[]): string {
  const cases = places.map((place) => {
    const names = [...place.commands, ...place.flags].map(({ name }) => name).join(' ');
    return `    '${key(place)}') names='${names}' ;;`;
  });
  return [
    '# carillon completion for bash',
    '_carillon() {',
    '  local names=',
    writeCommandPath(places, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"'),
    '  case "$place" in',
    ...cases,
    '  esac',
    '  COMPREPLY=($(compgen -W "$names" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    '# Where nothing of ours fits, files do.',
    'complete -o default -F _carillon carillon',
    '',
  ].join('\n');
}

function writeZsh(places: readonly Place[]): string {
  const item = ({ name, says }: { name: string; says: string }): string => quote(`${name}:${says}`);
  const cases = places.map((place) => `    '${key(place)}') names=(${[...place.commands, ...place.flags].map(item).join(' ')}) ;;`);
  return [
    '#compdef carillon',
    '_carillon() {',
    '  local -a names',
    writeCommandPath(places, '"${(@)words[2,CURRENT-1]}"'),
    '  case "$place" in',
    ...cases,
    '  esac',
    "  _describe 'command or flag' names",
    '  _files',
    '}',
    'compdef _carillon carillon',
    '',
  ].join('\n');
}

function writeFish(places: readonly Place[]): string {
  const line = (when: string, what: string, says: string): string => `complete -c carillon -n ${quote(when)} ${what} -d ${quote(says)}`;
  const lines = places.flatMap(({ words, commands: inner, flags }) => {
    const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
    const names = inner.map(({ name }) => name).join(' ');
    const here = words.length === 0 ? '__fish_use_subcommand' : `${seen}; and not __fish_seen_subcommand_from ${names}`;
    return [
      ...inner.map(({ name, says }) => line(here, `-a ${name}`, says)),
      ...flags.map(({ name, says }) => line(words.length === 0 ? here : seen, `-l ${name.slice(2)}`, says)),
    ];
  });
  return ['# carillon completion for fish', ...lines, ''].join('\n');
}

/** Single-quoted for a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

const writers: Readonly<Record<Shell, (places: readonly Place[]) => string>> = {
  bash: writeBash,
  zsh: writeZsh,
  fish: writeFish,
};
