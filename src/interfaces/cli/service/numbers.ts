import { Command } from 'commander';
import type { PhoneNumber } from './operation.ts';
import type { Io } from '../terminal/io.ts';
import { writeAnswer } from '../terminal/json-output.ts';
import { askUsable } from './list.ts';
import { addCallFlags, placeCalls, type CallFlags } from './numbers-call.ts';
import { addImportFlags, importNumber, type ImportFlags } from './numbers-import.ts';
import { printOperation } from './operation.ts';
import { renderTable, terminalWidth, type Column } from '../terminal/table.ts';

const examples = `
Examples:
  carillon numbers list
  carillon numbers import --phone-number +12125550123 --label "Main line" --account-sid <sid> --auth-token-file token.txt
  carillon numbers assign pn_main --agent agent_reminders
  carillon numbers call --agent agent_reminders --from pn_main --to +12125550100

SVC_BASE_URL and SVC_API_KEY select the service.`;

const importExamples = `
The command prompts for the auth token without showing it, or reads it from a file. It never takes it on the command line, where
others could read it.

Examples:
  carillon numbers import --phone-number +12125550123 --label "Main line" --account-sid <sid>
  carillon numbers import --phone-number +12125550123 --label "Main line" --account-sid <sid> --auth-token-file -`;

const callExamples = `
Places real calls immediately, without protection: no ledger against calling somebody twice, no calling hours, no do-not-call list,
no record of the outcome. For more than a test, use a campaign (carillon run). If it is unknown whether the service accepted the
request, the command says so and ends with code 1: the calls may have been placed.

In YAML, write numbers in quotes.

Examples:
  carillon numbers call --agent agent_reminders --from pn_main --to +12125550100
  carillon numbers call --agent agent_reminders --from pn_main --to +12125550100 --to +12125550101 --yes
  carillon numbers call --file batch.json --yes`;

/** `carillon numbers`: operations 11 to 14. */
export function numbersCommand(io: Io): Command {
  const command = new Command('numbers').addHelpText('after', examples);
  command
    .command('list')
    .description('List imported numbers')
    .option('--agent <id>', 'only numbers assigned to this agent')
    .option('--json', 'print JSON', false)
    .addHelpText('after', '\nExample:\n  carillon numbers list --json')
    .action((flags: { agent?: string; json: boolean }) => listNumbers(io, flags));
  addImportFlags(command.command('import').description("Import a number from your telephony provider's account"))
    .option('--json', 'print the response as JSON', false)
    .addHelpText('after', importExamples)
    .action((flags: ImportFlags) => importNumber(io, flags));
  command
    .command('assign')
    .description('Assign an agent that answers calls to a number')
    .argument('<number>', 'id of the number, such as pn_main')
    .requiredOption('--agent <id>', 'id of the agent')
    .option('--json', 'print the changed number as JSON', false)
    .addHelpText('after', '\nExample:\n  carillon numbers assign pn_main --agent agent_reminders')
    .action((id: string, { agent, json }: { agent: string; json: boolean }) =>
      printOperation(io, json, {
        doing: `assign number ${id} to agent ${agent}`,
        lookWith,
        ask: (client) => client.assignPhoneNumber(id, { agent_id: agent }),
        data: (number) => number ?? { phone_number_id: id, agent_id: agent },
        words: () => `Agent ${agent} answers the calls to number ${id} from now on.\n`,
      }),
    );
  addCallFlags(command.command('call').description('Place calls now, without the protection of a campaign'))
    .option('-y, --yes', 'do not ask for confirmation', false)
    .option('--json', 'print the response as JSON', false)
    .addHelpText('after', callExamples)
    .action((flags: CallFlags) => placeCalls(io, flags));
  return command;
}

const columns: readonly Column<PhoneNumber>[] = [
  { title: 'NUMBER ID', value: ({ phone_number_id }) => phone_number_id },
  { title: 'NUMBER', value: ({ phone_number }) => phone_number ?? '' },
  { title: 'LABEL', value: ({ label }) => label ?? '', flexible: true },
  { title: 'AGENT', value: ({ agent_id }) => agent_id ?? '-', flexible: true },
];

const lookWith = 'carillon numbers list';

async function listNumbers(io: Io, { agent, json }: { agent?: string; json: boolean }): Promise<void> {
  const all = await askUsable(io, { doing: 'list the phone numbers', lookWith }, (client, options) => client.listPhoneNumbers(options));
  const numbers = agent === undefined ? all : all.filter((number) => number.agent_id === agent);
  writeAnswer(io, json, {
    data: { phone_numbers: numbers },
    words: renderTable(columns, numbers, terminalWidth(io)),
  });
}
