import { randomUUID } from 'node:crypto';
import { Option, type Command } from 'commander';
import { type BatchCallsRequest, askService } from './operation.ts';
import { collect } from './agent-body.ts';
import { readFields, type Body } from '../terminal/body-file.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin } from '../terminal/irreversible.ts';
import { writeAnswer } from '../terminal/json-output.ts';
import type { PersonInput } from '../terminal/person-input.ts';
import { plural } from '../../../shared/input/figures.ts';
import { printable } from '../../../shared/input/printable.ts';
import { UsageError } from '../../../shared/input/errors.ts';

export interface CallFlags {
  file?: string;
  agent?: string;
  from?: string;
  to?: string[];
  firstMessage?: string;
  yes: boolean;
  json: boolean;
}

export function addCallFlags(command: Command): Command {
  return command
    .option('-f, --file <file>', 'the whole request as JSON or YAML, - for standard input; flags override it')
    .option('--agent <id>', 'the agent that conducts the calls')
    .option('--from <number>', 'id of the number to call from, such as pn_main')
    .addOption(new Option('--to <number>', 'number to call, in E.164 form; repeat for more').argParser(collect))
    .option('--first-message <text>', 'opening line of these calls; not with --file');
}

const warning =
  'Nothing protects these calls: no ledger against calling twice, no calling hours, no do-not-call list. A campaign (carillon run) has all three.\n';

/**
 * One batch request outside any campaign. When its fate is not known, the error says that the calls may have been placed, and the exit code
 * is 1; the request is never repeated here. Throws UsageError.
 */
export async function placeCalls(io: Io, flags: CallFlags): Promise<void> {
  const body = await readBody(io.input, flags);
  const { calls } = body;
  const people = Array.isArray(calls) ? calls.length : 0;
  io.stderr.write(warning);
  if (!(await mayBegin(io, flags.yes, `Place ${plural(people, 'call')} now?`))) return;
  const requestId = `cli-${randomUUID()}`;
  const operation = {
    doing: `place ${plural(people, 'call')}`,
    whenUnknown: 'The calls may have been placed: do not repeat the command before you have looked.',
    lookWith: `carillon conversations list --agent ${String(body['agent_id'])}`,
  };
  const placed = await askService(io, operation, (client) =>
    // The client checks the body before it sends anything.
    client.placeBatchCalls(body as unknown as BatchCallsRequest, { requestId, mayBegin: () => true }),
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
}

async function readBody(input: PersonInput, flags: CallFlags): Promise<Body> {
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
