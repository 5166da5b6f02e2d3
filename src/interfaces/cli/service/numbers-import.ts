import { Option, type Command } from 'commander';
import { type ImportPhoneNumberRequest, printOperation } from './operation.ts';
import { readFields, type Body } from '../terminal/body-file.ts';
import type { Io } from '../terminal/io.ts';
import type { PersonInput } from '../terminal/person-input.ts';
import { printable } from '../../../shared/input/printable.ts';
import { readSecret } from '../terminal/secret-input.ts';
import { UsageError } from '../../../shared/input/errors.ts';

export interface ImportFlags {
  file?: string;
  phoneNumber?: string;
  label?: string;
  accountSid?: string;
  authTokenFile?: string;
  /** Never accepted: see `importNumber`. */
  authToken?: string | true;
  json: boolean;
}

export function addImportFlags(command: Command): Command {
  return (
    command
      .option('-f, --file <file>', 'request fields as JSON or YAML, - for standard input; flags override them')
      .option('--phone-number <number>', 'in E.164 form, such as +12125550123')
      .option('--label <text>', 'name shown in lists')
      .option('--account-sid <sid>', "the account's id at the telephony provider")
      .option('--auth-token-file <file>', "file with the account's auth token, - for standard input")
      // Who expects this flag would otherwise read the token back in the message about an unknown option.
      .addOption(new Option('--auth-token [token]').hideHelp())
  );
}

/** Throws UsageError when a field is missing or the token stands on the command line. */
export async function importNumber(io: Io, flags: ImportFlags): Promise<void> {
  if (flags.authToken !== undefined) {
    throw new UsageError(
      'The auth token is not taken from the command line, where others can read it. Leave it out to be asked for it, or use --auth-token-file <file>. If it was the real one, change it at the provider. Nothing was sent.',
    );
  }
  const body = await readBody(io.input, flags);
  const token = String(body['telephony_auth_token']);
  await printOperation(io, flags.json, {
    doing: 'import the number',
    lookWith: 'carillon numbers list',
    secrets: [token],
    // The client checks the body before it sends anything.
    ask: (client) => client.importPhoneNumber(body as unknown as ImportPhoneNumberRequest),
    words: (imported) => `${printable(imported.phone_number_id)}\n`,
  });
}

async function readBody(input: PersonInput, flags: ImportFlags): Promise<Body> {
  const body = await readFields(input, flags.file, {
    phone_number: { flag: '--phone-number', value: flags.phoneNumber },
    label: { flag: '--label', value: flags.label },
    telephony_account_sid: { flag: '--account-sid', value: flags.accountSid },
  });
  if (body['telephony_auth_token'] !== undefined && flags.authTokenFile === undefined) return body;
  const token = await readSecret(input, {
    what: 'the auth token',
    file: flags.authTokenFile,
    fileFlag: '--auth-token-file FILE',
  });
  return { ...body, telephony_auth_token: token };
}
