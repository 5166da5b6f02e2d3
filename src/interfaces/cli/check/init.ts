import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { campaignIdFrom } from '../../../campaign/file/settings/caller.ts';
import { describeFileError, OutputFileError } from '../../../shared/input/errors.ts';
import { packageFolder } from '../../../shared/input/package-folder.ts';
import type { Io } from '../terminal/io.ts';
import { writeJson } from '../terminal/answer.ts';
import { commandOf, type CommandOutput } from '../terminal/command.ts';
import { campaignJsonSchema } from '../../../campaign/file/schema.ts';

/** Example folders by value of `--with`. */
const sources = { results: 'starter', callbacks: 'callbacks' } as const;

const files = ['campaign.yaml', 'recipients.csv', 'agent.json'] as const;

const examples = `
Writes a campaign file that explains its settings, a list of five fictional numbers, and an agent with values to collect. The campaign is
named after the folder. Existing files are never overwritten: if one exists, nothing is written.

Examples:
  carillon init autumn-reminders
  carillon init autumn-reminders --with callbacks   people who ask for it are called back
  carillon check autumn-reminders/campaign.yaml`;

export const initCommand = commandOf<{ with?: keyof typeof sources }, string | undefined>({
  name: 'init',
  argument: ['[folder]', 'target folder; created if it does not exist (default: ".")'],
  flags: [new Option('--with <what>', 'what the campaign is to show').choices(Object.keys(sources)).default('results')],
  json: 'print the paths as JSON',
  help: examples,
  run: writeFiles,
});

/** Writes all files or none. Throws OutputFileError. */
async function writeFiles(_: Io, { with: what = 'results' }: { with?: keyof typeof sources }, folder = '.'): Promise<CommandOutput> {
  const id = campaignIdFrom(basename(resolve(folder)));
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw new OutputFileError(folder, `the folder was not made: ${describeFileError(error)}`, { cause: error });
  });
  const source = join(packageFolder('examples'), sources[what]);
  const texts = await Promise.all(
    files.map(async (name) => {
      const text = await readFile(join(source, name), 'utf8');
      return { path: join(folder, name), text: text.replace(/^id: my-campaign/m, `id: ${id}`) };
    }),
  );
  await requireFree(texts.map(({ path }) => path));
  for (const { path, text } of texts) {
    await writeFile(path, text, { flag: 'wx' }).catch((error: unknown) => {
      throw new OutputFileError(path, `it was not written: ${describeFileError(error)}`, { cause: error });
    });
  }
  const paths = texts.map(({ path }) => path);
  const campaign = relative('.', join(folder, 'campaign.yaml'));
  return {
    data: { campaignId: id, files: paths.map((path) => resolve(path)) },
    words: `${paths.join('\n')}\n`,
    aside: `Campaign ${id}. See what it would do: carillon check ${campaign}\nPlay it through, nothing real is called: carillon rehearse ${campaign}\n`,
  };
}

async function requireFree(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const taken = await readFile(path).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
    );
    if (taken)
      throw new OutputFileError(path, 'it is there already, so nothing was written. Name another folder', {
        isBadInput: true,
      });
  }
}

const schemaHelp = `
With the schema, an editor with a YAML language server completes, explains and checks the settings of a file that begins with
  # yaml-language-server: $schema=./campaign.schema.json

Example:
  carillon schema > campaign.schema.json`;

/** `carillon schema`: needs no network, no database and no service. */
export function schemaCommand(io: Io): Command {
  return new Command('schema').addHelpText('after', schemaHelp).action(() => writeJson(io, campaignJsonSchema()));
}
