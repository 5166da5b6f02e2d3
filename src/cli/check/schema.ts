import { Command } from 'commander';
import { campaignJsonSchema } from '../../campaign-file/json-schema.ts';
import type { Io } from '../terminal/io.ts';
import { writeJson } from '../terminal/json-output.ts';

const examples = `
An editor with a YAML language server then completes and explains settings, and marks what does not fit, in a file that begins with
  # yaml-language-server: $schema=./campaign.schema.json

Example:
  carillon schema > campaign.schema.json`;

/** `carillon schema`: needs no network, no database and no service. */
export function schemaCommand(io: Io): Command {
  return new Command('schema')
    .description('Write the JSON Schema of the campaign file, for editors')
    .addHelpText('after', examples)
    .action(() => writeJson(io, campaignJsonSchema()));
}
