import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { Option } from 'commander';
import { campaignHash, readCampaignFile, refuseEndedCampaign } from '../../../campaign/file/file.ts';
import { readTestCallRow, testCallRules, type TestCallRow } from '../../../list/test-call-row.ts';
import { readConfig, type Config } from '../../../shared/config.ts';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import { withAccountRules } from '../../../rules/house-rules.ts';
import { compileTemplates } from '../../../rules/personalisation.ts';
import { readPhoneNumber } from '../../../shared/input/phone-number.ts';
import { recipientFields } from '../../../rules/columns.ts';
import { requireHookSecret, startCampaign } from '../../../temporal/start-campaign.ts';
import { findCampaign } from '../../../ledger/rows/campaigns.ts';
import { importList, readCampaign, type ReadCampaign } from '../../../campaign/preflight/import-list.ts';
import { requireCaller } from '../../../operations/control/start.ts';
import { commandOf, readPositive } from '../terminal/command.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin, writeAnswer } from '../terminal/answer.ts';
import { connected, withControl, type Control, type Session } from '../../../operations/control/control.ts';
import { openLedger, type LedgerAccess } from '../../../operations/control/ledger.ts';
import { printable } from '../../../shared/input/printable.ts';
import { accountIdOf, readClock, withService } from '../../../operations/control/service.ts';
import { foreseen, UsageError } from '../../../shared/input/errors.ts';
import { evaluateEligibility } from '../../../rules/attempts/eligibility.ts';
import { calendarsFor } from '../../../rules/hours/legal-hours.ts';
import { readLatestAccountRules } from '../../../ledger/limits/house.ts';
import { readCaps } from '../../../ledger/limits/placed-calls.ts';
import { findSuppressed } from '../../../ledger/rows/suppressions.ts';
import { instantText } from '../../../shared/input/times.ts';
import type { ServiceRecord } from '../../../service/port/call-service.ts';
import { hasEnded } from '../../../rules/lifecycle.ts';
import { readResults, type RecipientResult } from '../../../ledger/read/result-rows.ts';
import { createCampaignView, watchCampaign, type CampaignView, type Snapshot } from '../access/watch-campaign.ts';
import { describeFailure } from '../terminal/failure.ts';
import { untilInterrupted } from '../terminal/interrupt.ts';
import { verdictReason } from '../../../presentation/words/causes.ts';
import { renderTranscript } from '../../../presentation/words/history.ts';
import type { Store } from '../../../ledger/tx.ts';

const examples = `
The call is handled like every call of the campaign: planned, checked again in the dial transaction, sent, collected and settled. It
is a separate campaign with one row, <campaign>-test-1 and so on, and is recorded in the database and its log like any other. The
text comes from a row of the list; the number is yours. There is one attempt. Needs Temporal and a worker, like carillon run.

The do-not-call list, calling hours, law and frequency caps apply, in the time zones of the number. --any-hour ignores hours and
law. Use it for your own phone only, never for anyone else's.

Exit code 0 if the call was placed and its outcome is known; 1 if it was refused, not placed, or left before its end; 2 if the file,
the list or the number is invalid.

Examples:
  carillon test-call campaign.yaml --to +12125550123
  carillon test-call campaign.yaml --to +12125550123 --row 17 --yes`;

interface Flags {
  to: string;
  /** List row that provides the words; default: the first accepted one. */
  row?: number;
  anyHour: boolean;
}

export const testCallCommand = commandOf<Flags>({
  name: 'test-call',
  says: 'Call your own number once, as the campaign would call a row of its list',
  argument: ['<campaign.yaml>', 'campaign file'],
  flags: [
    new Option('--to <number>', 'your own phone number, in E.164 form').makeOptionMandatory(),
    ['--row <n>', 'row whose text is spoken (default: the first accepted row)', readPositive('Write the number of a data row, from 1.')],
    ['--any-hour', 'ignore calling hours and law; for your own phone only', false],
  ],
  asks: true,
  json: 'print the outcome of the call as one JSON object',
  help: examples,
  run: placeTestCall,
});

/** Places one call and waits for its end. Errors before the start mean that no call was placed. */
async function placeTestCall(io: Io, options: Flags & { yes: boolean; json: boolean }, campaignPath: string): Promise<null> {
  const config = readConfig(io.env);
  const recipient = readPhoneNumber(options.to, null);
  if (!recipient.ok) throw new UsageError(`--to cannot be used: ${recipient.hint}. Write it as +12125550123.`);
  const clock = await readClock(config);
  const now = Math.round(clock.now());
  const { file, header, rules } = await readCampaign(await readCampaignFile(campaignPath), now);
  refuseEndedCampaign(file, now);
  const row = await readTestCallRow(file, header, rules, { row: options.row ?? null, callee: recipient });
  const testRules = testCallRules(rules, options.anyHour);
  requireHookSecret(config, file.id, testRules);
  const call = async (control: Control): Promise<void> => {
    const { store } = control;
    await refuseForbiddenCall(store, { campaignId: file.id, rules: testRules, row, now, path: file.path });
    await requireCaller(config, testRules);
    printWords(io, options, testRules, row);
    const question = `Place this call to the number of --to now, as row ${row.row} of ${file.id}?`;
    if (!(await mayBegin(io, options.yes, question))) return;
    const session = await connected(control);
    const campaignId = await importTestCall(session, { file, header, rules: testRules, row, now });
    await startCampaign({ config, store, client: session.temporal.client, now, isUrgent: true }, campaignId);
    io.stderr.write(`Test call ${campaignId} has been started.\n`);
    await followTestCall(io, session, { campaignId, json: options.json });
  };
  await withControl(io, call, openLedger);
  return null;
}

/** What will be said, for the confirmation. */
function printWords(io: Io, { anyHour }: Flags, rules: CampaignRules, row: TestCallRow): void {
  const rendered = compileTemplates(rules).render(recipientFields(rules.list.columns, row.cells));
  if (rendered.ok) {
    const line = rendered.firstMessage === null ? "(the agent's own opening line)" : printable(rendered.firstMessage);
    const variables = Object.entries(rendered.variables ?? {}).map(([name, value]) => `  ${name} = ${printable(value)}\n`);
    io.stderr.write(`The agent will say:\n  ${line}\n${variables.join('')}`);
  }
  if (anyHour) io.stderr.write('Calling hours and law are left out (--any-hour): this must be a phone of your own.\n');
}

/** As a campaign of one row; returns its id, the next free one. */
async function importTestCall(
  { config, store }: LedgerAccess,
  { file, header, rules, row, now }: Omit<ReadCampaign, 'hash'> & { row: TestCallRow; now: number },
): Promise<string> {
  let n = 1;
  while ((await findCampaign(store.db, `${file.id}-test-${n}`)) !== undefined) n += 1;
  const campaignId = `${file.id}-test-${n}`;
  // A concurrent test call with the same id has another hash, so one of the two is refused.
  const own = { ...file, id: campaignId, name: `Test call of ${file.id}`, hash: `${file.hash}\n${randomUUID()}` };
  const read = { file: own, header, rules, hash: await campaignHash(own) };
  const rows = Readable.from([[row]]);
  await importList({ store, read, accountId: accountIdOf(config), api: config.SVC_API, now, allowPartial: true, rows });
  return campaignId;
}

/** Thrown when the rules forbid a test call now; nothing was imported or called. */
class TestCallRefusedError extends foreseen('TestCallRefusedError', false) {}

/** Checks first what the dial transaction checks again. Throws TestCallRefusedError. */
async function refuseForbiddenCall(
  store: Store,
  call: { campaignId: string; rules: CampaignRules; row: TestCallRow; now: number; path: string },
): Promise<void> {
  const { campaignId, row, now } = call;
  const rules = withAccountRules(call.rules, await readLatestAccountRules(store.db));
  const { e164, zones, country, regions } = row;
  const suppressed = await findSuppressed(store.db, { campaignId, purpose: rules.purpose, now }, [e164]);
  const recipient = { e164, person: null, place: { country, regions } };
  const capsAllowAt = await readCaps(store.db, rules, { callees: [recipient], now });
  const verdict = evaluateEligibility({
    at: now,
    endsAt: rules.endsAt,
    calendars: calendarsFor(rules, { country, regions }),
    zones,
    marginMs: rules.timing.dispatchMarginMs,
    suppressed: suppressed.get(e164) === 'suppressed',
    revoked: suppressed.get(e164) === 'consent_revoked',
    numberBusy: false,
    capsAllowAt: capsAllowAt(recipient),
    budgetAllowsAt: now,
    attempted: false,
  });
  if (verdict.verdict === 'dial') return;
  const until = verdict.verdict === 'wait' ? ` before ${instantText(verdict.until)}` : '';
  const why = `This number cannot be called${until}: ${verdictReason(verdict.reason)}.`;
  throw new TestCallRefusedError([why, remedies[verdict.reason], 'Nobody was called.'].filter(Boolean).join(' '));
}

const ownPhone = 'For a phone of your own --any-hour leaves hours of the campaign and law out.';
const renewConsent = 'carillon consent renew notes a newer one.';

const remedies: Readonly<Record<string, string>> = {
  outside_hours: ownPhone,
  unknown_timezone: ownPhone,
  no_open_window_before_end: ownPhone,
  campaign_end: 'No call begins in the time of advanced.dispatch_margin before the end.',
  suppressed: 'carillon suppress check shows the entry, carillon suppress remove takes it off.',
  missing_consent: renewConsent,
  consent_expired: renewConsent,
  consent_revoked: renewConsent,
};

/** Sets exit code 1 unless the call was placed and its end is known. */
async function followTestCall(io: Io, session: Session, { campaignId, json }: { campaignId: string; json: boolean }): Promise<void> {
  const { campaign } = await watch(io, session, campaignId);
  if (!hasEnded(campaign)) {
    const isPaused = campaign.state === 'paused';
    const why = isPaused ? `paused: ${printable(campaign.stateReason ?? 'no reason is on record')}` : 'still in progress';
    const goOn = isPaused ? `   Resume it: carillon resume ${campaignId}` : '';
    io.stderr.write(
      `The test call is ${why}\nShow its progress: carillon status ${campaignId}${goOn}   End it: carillon cancel ${campaignId}\n`,
    );
    io.exitCode = 1;
    return;
  }
  for await (const result of readResults(session.store.db, campaignId)) {
    const record = await readRecord(io, session.config, result.conversationId);
    writeAnswer(io, json, {
      data: asJson(campaignId, result, record),
      words: renderEnd(campaignId, result, record),
    });
    if (result.disposition === null || result.outcome === 'unresolved') io.exitCode = 1;
  }
}

async function watch(io: Io, session: Session, campaignId: string): Promise<Snapshot> {
  const { config, store } = session;
  // One call needs no bar: its events are lines.
  const lines = createCampaignView({ ...io, isTerminal: false }, io.stderr, '');
  return untilInterrupted(io, (leaving) => {
    const show: CampaignView['show'] = (snapshot, warnings) => {
      lines.show(snapshot, warnings);
      // This command did not pause it, and it may stay paused for ever.
      if (snapshot.campaign.state === 'paused') leaving.abort();
    };
    return watchCampaign({ config, store, campaignId, session, fromSeq: 0, view: { show }, leave: leaving.signal });
  });
}

/** Null if missing or unreadable. */
async function readRecord(io: Io, config: Config, conversationId: string | null): Promise<ServiceRecord | null> {
  if (conversationId === null) return null;
  return withService(config, (service) => service.record(conversationId)).catch((error: unknown) => {
    io.stderr.write(`${describeFailure(error, false).message}\n`);
    return null;
  });
}

function renderEnd(campaignId: string, result: RecipientResult, record: ServiceRecord | null): string {
  const { outcome, disposition, detail, reason } = result;
  const call = disposition === null ? 'was not placed' : `${disposition}${detail === null ? '' : ` (${detail})`}`;
  const lines = [
    '',
    `Test call     ${campaignId}`,
    printable(`Call          ${call}`),
    printable(`Outcome       ${outcome}${reason === null ? '' : ` (${reason})`}`),
    record === null ? '\n(the service shows no conversation of it)\n' : renderTranscript(result.row, record),
    ...(outcome === 'opted_out' ? ['The number is on the do-not-call list now; carillon suppress remove takes it off.\n'] : []),
  ];
  return lines.join('\n');
}

function asJson(campaignId: string, result: RecipientResult, record: ServiceRecord | null): object {
  const { row, outcome, reason, disposition, detail, conversationId, durationMs, collected, evaluation } = result;
  const call = { disposition, detail, conversationId, durationMs, collected, evaluation };
  return { campaignId, row, outcome, reason, ...call, transcript: record?.document['transcript'] ?? null };
}
