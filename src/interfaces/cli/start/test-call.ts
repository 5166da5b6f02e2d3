import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { Command } from 'commander';
import { campaignHash, readCampaignFile, refuseEndedCampaign } from '../../../campaign/file/file.ts';
import { readTestCallRow, testCallRules, type TestCallRow } from '../../../list/test-call-row.ts';
import { readConfig } from '../../../shared/config.ts';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import { compileTemplates } from '../../../rules/personalisation.ts';
import { readPhoneNumber } from '../../../rules/phone-number.ts';
import { recipientFields } from '../../../rules/columns.ts';
import { requireHookSecret } from '../../../temporal/hook-secret.ts';
import { findCampaign } from '../../../ledger/rows/campaigns.ts';
import { importList, readCampaign, type ReadCampaign } from '../../../campaign/preflight/import-list.ts';
import { startCampaign } from '../../../temporal/start-campaign.ts';
import { requireCaller } from '../../../operations/control/start.ts';
import { readPositive } from '../terminal/flag-values.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin } from '../terminal/irreversible.ts';
import { connected, withControl, type Control } from '../../../operations/control/control.ts';
import { openLedger, type LedgerAccess } from '../../../operations/control/ledger.ts';
import { printable } from '../../../shared/input/printable.ts';
import { accountIdOf, readClock } from '../../../operations/control/service.ts';
import { followTestCall } from './test-call-end.ts';
import { refuseForbiddenCall } from './test-call-refusal.ts';
import { UsageError } from '../../../shared/input/errors.ts';

const examples = `
The call is handled like every call of the campaign: planned, checked again in the dial transaction, sent, collected and settled. It
is a separate campaign with one row, <campaign>-test-1 and so on, and is recorded in the database and its log like any other. The
text comes from a row of the list; the number is yours. There is one attempt. Needs Temporal and a worker, like carillon run.

The do-not-call list, calling hours, law and frequency caps apply, in the time zones of the number. --any-hour ignores hours and
law. Use it for your own phone only, never for anybody else's.

Exit code 0 if the call was placed and its outcome is known; 1 if it was refused, not placed, or left before its end; 2 if the file,
the list or the number is invalid.

Examples:
  carillon test-call campaign.yaml --to +12125550123
  carillon test-call campaign.yaml --to +12125550123 --row 17 --yes`;

export interface TestCallOptions {
  campaignPath: string;
  to: string;
  /** Row of the list that gives the words; null for the first that is accepted. */
  row: number | null;
  anyHour: boolean;
  yes: boolean;
  json: boolean;
}

const readRow = readPositive('Write the number of a data row, from 1.');

export function testCallCommand(io: Io): Command {
  return new Command('test-call')
    .description('Call your own number once, as the campaign would call a row of its list')
    .argument('<campaign.yaml>', 'campaign file')
    .requiredOption('--to <number>', 'your own phone number, in E.164 form')
    .option('--row <n>', 'row whose text is spoken (default: the first accepted row)', readRow)
    .option('--any-hour', 'ignore calling hours and law; for your own phone only', false)
    .option('-y, --yes', 'do not ask for confirmation', false)
    .option('--json', 'print the outcome of the call as one JSON object', false)
    .addHelpText('after', examples)
    .action(async (campaignPath: string, flags: Omit<TestCallOptions, 'campaignPath' | 'row'> & { row?: number }) => {
      await runTestCall(io, { ...flags, campaignPath, row: flags.row ?? null });
    });
}

/** Places one call and waits for its end. Throws what its parts throw, each with its exit code; nothing was placed then. */
export async function runTestCall(io: Io, options: TestCallOptions): Promise<void> {
  const config = readConfig(io.env);
  const callee = readPhoneNumber(options.to, null);
  if (!callee.ok) throw new UsageError(`--to cannot be used: ${callee.hint}. Write it as +12125550123.`);
  const clock = await readClock(config);
  const now = Math.round(clock.now());
  const { file, header, rules } = await readCampaign(await readCampaignFile(options.campaignPath), now);
  refuseEndedCampaign(file, now);
  const row = await readTestCallRow(file, header, rules, { row: options.row, callee });
  const testRules = testCallRules(rules, options.anyHour);
  requireHookSecret(config, file.id, testRules);
  const call = async (control: Control): Promise<void> => {
    const { store } = control;
    await refuseForbiddenCall(store, { campaignId: file.id, rules: testRules, row, now, path: file.path });
    await requireCaller(config, testRules);
    tellWords(io, options, testRules, row);
    const question = `Place this call to the number of --to now, as row ${row.row} of ${file.id}?`;
    if (!(await mayBegin(io, options.yes, question))) return;
    const session = await connected(control);
    const campaignId = await importTestCall(session, { file, header, rules: testRules, row, now });
    await startCampaign({ config, store, client: session.temporal.client, now, isUrgent: true }, campaignId);
    io.stderr.write(`Test call ${campaignId} has been started.\n`);
    await followTestCall(io, session, { campaignId, json: options.json });
  };
  await withControl(io, call, openLedger);
}

/** What will be said, so that a person can say yes to it. */
function tellWords(io: Io, { anyHour }: TestCallOptions, rules: CampaignRules, row: TestCallRow): void {
  const rendered = compileTemplates(rules).render(recipientFields(rules.list.columns, row.cells));
  if (rendered.ok) {
    const line = rendered.firstMessage === null ? "(the agent's own opening line)" : printable(rendered.firstMessage);
    const variables = Object.entries(rendered.variables ?? {}).map(([name, value]) => `  ${name} = ${printable(value)}\n`);
    io.stderr.write(`The agent will say:\n  ${line}\n${variables.join('')}`);
  }
  if (anyHour) io.stderr.write('Calling hours and law are left out (--any-hour): this must be a phone of your own.\n');
}

/** Imports the call as a campaign of one row under the next free id, and answers that. */
async function importTestCall(
  { config, store }: LedgerAccess,
  { file, header, rules, row, now }: Omit<ReadCampaign, 'hash'> & { row: TestCallRow; now: number },
): Promise<string> {
  let n = 1;
  while ((await findCampaign(store.db, `${file.id}-test-${n}`)) !== undefined) n += 1;
  const campaignId = `${file.id}-test-${n}`;
  // Another test call that takes the same id in this moment has another hash, and one of the two is refused.
  const own = { ...file, id: campaignId, name: `Test call of ${file.id}`, hash: `${file.hash}\n${randomUUID()}` };
  const read = { file: own, header, rules, hash: await campaignHash(own) };
  const rows = Readable.from([[row]]);
  await importList({ store, read, accountId: accountIdOf(config), now, allowPartial: true, rows });
  return campaignId;
}
