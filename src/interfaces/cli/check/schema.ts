import { Command } from 'commander';
import { campaignJsonSchema } from '../../../campaign/file/schema.ts';
import type { Io } from '../terminal/io.ts';
import { writeJson } from '../terminal/json-output.ts';

const examples = `
With the schema, an editor with a YAML language server completes, explains and checks the settings of a file that begins with
  # yaml-language-server: $schema=./campaign.schema.json

Example:
  carillon schema > campaign.schema.json`;

/** `carillon schema`: needs no network, no database and no service. */
export function schemaCommand(io: Io): Command {
  return new Command('schema').addHelpText('after', examples).action(() => writeJson(io, campaignJsonSchema()));
}
