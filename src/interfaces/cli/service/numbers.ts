import { Option } from 'commander';
import {
  type PhoneNumber,
  askUsable,
  operationOf,
  type BatchCallsRequest,
  askService,
  type ImportPhoneNumberRequest,
  readFields,
  type Body,
} from './operation.ts';
import type { Io } from '../terminal/io.ts';
import { writeAnswer, mayBegin } from '../terminal/answer.ts';
import { commandOf, groupOf } from '../terminal/command.ts';
import { renderTable, terminalWidth, type Column } from '../terminal/table.ts';
import { randomUUID } from 'node:crypto';
import { collect } from './agents.ts';
import { type UserInput, readSecret } from '../terminal/person-input.ts';
import { plural } from '../../../shared/input/figures.ts';
import { printable } from '../../../shared/input/printable.ts';
import { UsageError } from '../../../shared/input/errors.ts';

const help = `
Examples:
  carillon numbers list
  carillon numbers import --phone-number +12125550123 --label "Main line" --account-sid <sid> --auth-token-file token.txt
  carillon numbers assign pn_main --agent agent_reminders
  carillon numbers call --agent agent_reminders --from pn_main --to +12125550100

SVC_BASE_URL and SVC_API_KEY select the service.`;

const lookWith = 'carillon numbers list';

const columns: readonly Column<PhoneNumber>[] = [
  { title: 'NUMBER ID', value: ({ phone_number_id }) => phone_number_id },
  { title: 'NUMBER', value: ({ phone_number }) => phone_number ?? '' },
  { title: 'LABEL', value: ({ label }) => label ?? '', flexible: true },
  { title: 'AGENT', value: ({ agent_id }) => agent_id ?? '-', flexible: true },
];

interface ImportFlags {
  file?: string;
  phoneNumber?: string;
  label?: string;
  accountSid?: string;
  authTokenFile?: string;
  /** Never accepted. */
  authToken?: string | true;
}

interface CallFlags {
  file?: string;
  agent?: string;
  from?: string;
  to?: string[];
  firstMessage?: string;
}

/** `carillon numbers`: operations 11 to 14. */
export const numbersCommand = groupOf({ name: 'numbers', help }, [
  commandOf<{ agent?: string }>({
    name: 'list',
    says: 'List imported numbers',
    flags: [['--agent <id>', 'only numbers assigned to this agent']],
    examples: ['carillon numbers list --json'],
    run: async (io, { agent }) => {
      const all = await askUsable(io, { doing: 'list the phone numbers', lookWith }, (client, options) => client.listPhoneNumbers(options));
      const numbers = agent === undefined ? all : all.filter((number) => number.agent_id === agent);
      return { data: { phone_numbers: numbers }, words: renderTable(columns, numbers, terminalWidth(io)) };
    },
  }),
  commandOf<ImportFlags>({
    name: 'import',
    says: "Import a number from your telephony provider's account",
    flags: [
      ['-f, --file <file>', 'request fields as JSON or YAML, - for standard input; flags override them'],
      ['--phone-number <number>', 'in E.164 form, such as +12125550123'],
      ['--label <text>', 'name shown in lists'],
      ['--account-sid <sid>', "the account's id at the telephony provider"],
      ['--auth-token-file <file>', "file with the account's auth token, - for standard input"],
      // Otherwise the error about an unknown option would show the token.
      new Option('--auth-token [token]').hideHelp(),
    ],
    json: 'print the response as JSON',
    help: `
The command prompts for the auth token without showing it, or reads it from a file. It never takes it on the command line, where
others could read it.`,
    examples: [
      'carillon numbers import --phone-number +12125550123 --label "Main line" --account-sid <sid>',
      'carillon numbers import --phone-number +12125550123 --label "Main line" --account-sid <sid> --auth-token-file -',
    ],
    run: importNumber,
  }),
  operationOf<object | null, { agent: string }>({
    name: 'assign',
    says: 'Assign an agent that answers calls to a number',
    argument: ['<number>', 'id of the number, such as pn_main'],
    flags: [new Option('--agent <id>', 'id of the agent').makeOptionMandatory()],
    json: 'print the changed number as JSON',
    examples: ['carillon numbers assign pn_main --agent agent_reminders'],
    doing: (id, { agent }) => `assign number ${id} to agent ${agent}`,
    lookWith,
    ask: (client, id, { agent }) => client.assignPhoneNumber(id, { agent_id: agent }),
    data: (number, id, { agent }) => number ?? { phone_number_id: id, agent_id: agent },
    words: (_, id, { agent }) => `Agent ${agent} answers the calls to number ${id} from now on.\n`,
  }),
  commandOf<CallFlags>({
    name: 'call',
    says: 'Place calls now, without the protection of a campaign',
    flags: [
      ['-f, --file <file>', 'the whole request as JSON or YAML, - for standard input; flags override it'],
      ['--agent <id>', 'the agent that conducts the calls'],
      ['--from <number>', 'id of the number to call from, such as pn_main'],
      ['--to <number>', 'number to call, in E.164 form; repeat for more', collect],
      ['--first-message <text>', 'opening line of these calls; not with --file'],
    ],
    asks: true,
    json: 'print the response as JSON',
    help: `
Places real calls immediately. Nothing prevents a second call to the same number, a call outside calling hours, or a call to a number on
the do-not-call list, and no outcome is recorded. For more than a test, use a campaign (carillon run). If it is unknown whether the service accepted the
request, the command says so and ends with code 1: the calls may have been placed.

In YAML, write numbers in quotes.`,
    examples: [
      'carillon numbers call --agent agent_reminders --from pn_main --to +12125550100',
      'carillon numbers call --agent agent_reminders --from pn_main --to +12125550100 --to +12125550101 --yes',
      'carillon numbers call --file batch.json --yes',
    ],
    run: placeCalls,
  }),
]);

const warning =
  'These calls are not checked against earlier calls, calling hours or the do-not-call list. A campaign (carillon run) checks all three.\n';

/** One request outside any campaign, never repeated. An unknown outcome is an error with exit code 1. Throws UsageError. */
async function placeCalls(io: Io, flags: CallFlags & { json: boolean; yes: boolean }): Promise<null> {
  const body = await readBody(io.input, flags);
  const { calls } = body;
  const people = Array.isArray(calls) ? calls.length : 0;
  io.stderr.write(warning);
  if (!(await mayBegin(io, flags.yes, `Place ${plural(people, 'call')} now?`))) return null;
  const requestId = `cli-${randomUUID()}`;
  const operation = {
    doing: `place ${plural(people, 'call')}`,
    whenUnknown: 'The calls may have been placed: do not repeat the command before you have looked.',
    lookWith: `carillon conversations list --agent ${String(body['agent_id'])}`,
  };
  const placed = await askService(io, operation, (client) =>
    // The client validates the body before it sends anything.
    client.placeBatchCalls(body as BatchCallsRequest, { requestId, mayBegin: () => true }),
  );
  writeAnswer(io, flags.json, {
    data: { batch_id: placed.batchId, calls_initiated: placed.callsInitiated },
    words: `Batch ${printable(placed.batchId)}: ${plural(placed.callsInitiated, 'call')} queued.\n`,
  });
  if (placed.callsInitiated < people) {
    io.stderr.write(
      `The service queued ${placed.callsInitiated} of ${people} and does not say which. Look before you call the others: ${operation.lookWith}\n`,
    );
    io.exitCode = 1;
  }
  return null;
}

async function readBody(input: UserInput, flags: CallFlags): Promise<Body> {
  if (flags.file !== undefined && flags.firstMessage !== undefined)
    throw new UsageError('--first-message is for calls given by --to; in a file write conversation_config_override.');
  const { firstMessage } = flags;
  const override = firstMessage === undefined ? null : { agent: { first_message: firstMessage } };
  const calls = flags.to?.map((number) => ({
    to_phone_number: number,
    ...(override === null ? {} : { conversation_config_override: override }),
  }));
  return readFields(input, flags.file, {
    agent_id: { flag: '--agent', value: flags.agent },
    from_phone_number_id: { flag: '--from', value: flags.from },
    calls: { flag: '--to', value: calls },
  });
}

/** Throws UsageError for a missing field, or a token on the command line. */
async function importNumber(io: Io, flags: ImportFlags) {
  if (flags.authToken !== undefined) {
    throw new UsageError(
      'The auth token is not taken from the command line, where others can read it. Leave it out to be asked for it, or use --auth-token-file <file>. If it was the real one, change it at the provider. Nothing was sent.',
    );
  }
  const body = await readNumber(io.input, flags);
  const secrets = [String(body['telephony_auth_token'])];
  // The client validates the body before it sends anything.
  const data = await askService(io, { doing: 'import the number', lookWith, secrets }, (client) =>
    client.importPhoneNumber(body as ImportPhoneNumberRequest),
  );
  return { data, words: `${printable(data.phone_number_id)}\n` };
}

async function readNumber(input: UserInput, flags: ImportFlags): Promise<Body> {
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
