import { Command } from 'commander';
import { adjustableTermNames, adjustableTerms } from '../../../campaign/file/settings/adjustable.ts';
import { adjustable, meaningOf } from '../../../campaign/file/settings/pacing.ts';
import { changesNothing, NoLimitToShareError, readCampaignLimits, readSharedLimits } from '../../../operations/control/adjust.ts';
import { accountAsTold } from '../../../operations/runs/steer.ts';
import { performHere } from '../../../operations/runs/command-line.ts';
import { adjustableAsJson } from '../../../operations/limits.ts';
import { withControl, type Control } from '../../../operations/control/control.ts';
import { adjustableLimits, type AdjustableLimit, type AdjustableTerms } from '../../../rules/campaign-rules.ts';
import { count, percent, plural } from '../../../shared/input/figures.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import type { Adjustment, AccountLimits } from '../../../ledger/limits/adjustments.ts';
import { effectLines } from '../../../presentation/words/adjust-effect.ts';
import { describeAdjustment } from '../../../presentation/words/events.ts';
import { warnIfNotNotified, writeAnswer, writeJson, mayBegin } from '../terminal/answer.ts';
import { keyFlag } from '../terminal/command.ts';
import type { Io } from '../terminal/io.ts';
import type { Config } from '../../../shared/config.ts';
import { moveService } from '../../../ledger/campaign/service-move.ts';
import { accountIdOf, readClock } from '../../../operations/control/service.ts';
import type { Store } from '../../../ledger/tx.ts';

const examples = `
Changes limits, calling hours and retries of a campaign from its next batch on; open calls continue. The campaign file and its hash do
not change, and --reset restores what the file says. --dry-run says how many people a change concerns. With --account the command sets
the limits shared by all campaigns of this database at SVC_BASE_URL, and the share left to other traffic. Without any change it shows
what holds now.

Use --moved-from only if the service, with all its calls and records, has moved from that address to SVC_BASE_URL; its campaigns
continue there. Never use it for a different service: open calls would look as if they had never been placed, and recipients would
be called twice.

Examples:
  carillon adjust reminders --max-concurrent-calls 40
  carillon adjust reminders --starts-per-minute none --priority 100
  carillon adjust reminders --hours "mon-fri 09:00-20:00, sat 10:00-12:00" --dry-run
  carillon adjust reminders --max-attempts 2 --retry-busy 1h --retry-no-answer "4h, next_day"
  carillon adjust reminders --reset
  carillon adjust --account --max-concurrent-calls 30 --keep-free 30%
  carillon adjust --account --moved-from https://old.example/api`;

export function adjustCommand(io: Io): Command {
  const command = new Command('adjust')
    .description('Change speed, calling hours or retries of a running campaign, or the limits of the account')
    .argument('[campaign]', 'id of the campaign; omit it with --account')
    .option('--account', 'change the limits shared by all campaigns of the account', false);
  for (const name of adjustableLimits) {
    const { isLiftable } = adjustable[name];
    const none = isLiftable ? ', or none for no limit' : '';
    const shared = name === 'maxConcurrentCalls' ? '; with --account, none removes the limit' : '';
    command.option(`${flagOf(name)} <number>`, `${meaningOf(adjustable[name])}${none}${shared}`);
  }
  for (const name of adjustableTermNames) {
    const { key, help } = adjustableTerms[name];
    command.option(`--${key} <text>`, `${help.slice(0, 1).toLowerCase()}${help.slice(1)}`.replace(/\.$/, ''));
  }
  return command
    .option('-n, --dry-run', 'say what would come of it for the people who wait, and change nothing', false)
    .option('--keep-free <share>', 'with --account: share left to other traffic, such as 30%')
    .option('--moved-from <address>', 'with --account: the service has moved from this address to SVC_BASE_URL')
    .option('-y, --yes', 'with --moved-from: do not ask for confirmation', false)
    .option('--reset', 'restore the limits from the campaign file', false)
    .option('--json', 'print JSON', false)
    .option(...keyFlag)
    .addHelpText('after', examples)
    .action((campaignId: string | undefined, flags: AdjustFlags) => runAdjust(io, campaignId, flags));
}

/** Throws UsageError and database errors. */
async function runAdjust(io: Io, campaignId: string | undefined, flags: AdjustFlags): Promise<void> {
  if (flags.account !== (campaignId === undefined)) {
    throw new UsageError(
      flags.account
        ? `Both a campaign (${campaignId}) and --account are named; name one.`
        : 'Name a campaign, such as carillon adjust reminders, or the whole account with --account.',
    );
  }
  await withControl(io, (control) => {
    if (campaignId !== undefined) return adjustOne(io, control, campaignId, flags);
    const { movedFrom: from } = flags;
    return from === undefined ? adjustAccount(io, control, flags) : moveAccount(io, { ...control, flags, from });
  });
}

const unchanged: Adjustment<object> = { from: {}, to: {} };

async function adjustOne(io: Io, control: Control, campaignId: string, flags: AdjustFlags): Promise<void> {
  const changes = readCampaignFlags(flags);
  const isQuestion = Object.keys(changes).length === 0 && !flags.reset;
  if (isQuestion)
    return printLimits(io, flags, { campaignId, changed: null, ...adjustableAsJson(await readCampaignLimits(control, campaignId)) });
  const { reset, dryRun, key } = flags;
  const sent = { params: { campaign: campaignId }, body: { ...changes, reset, dryRun }, key };
  const { effect, ...adjusted } = await performHere(control, 'adjustCampaign', sent);
  if (effect === null) return printLimits(io, flags, { changed: null, ...adjusted });
  writeAnswer(io, flags.json, { data: { campaignId, effect }, words: `${effectLines(effect).join('\n')}\nNothing was changed.\n` });
}

interface AdjustedLimits extends ReturnType<typeof adjustableAsJson> {
  campaignId: string;
  /** Null: no change was requested. */
  changed: Adjustment<object> | null;
  notice?: string | null;
}

function printLimits(io: Io, { json }: AdjustFlags, { changed, notice = null, ...adjusted }: AdjustedLimits): void {
  const { campaignId, ...limits } = adjusted;
  const isNotified = warnIfNotNotified(io, campaignId, notice);
  writeAnswer(io, json, {
    data: { campaignId, changed: changed ?? unchanged, told: isNotified, ...limits },
    words: `${[...changeLines(changed), ...limitLines(limits), ...termLines(limits)].join('\n')}\n`,
  });
}

async function adjustAccount(io: Io, control: Control, flags: AdjustFlags): Promise<void> {
  const changes = readAccountFlags(flags);
  const isQuestion = Object.keys(changes).length === 0;
  const limits = isQuestion
    ? { ...accountAsTold(await readSharedLimits(control)), changed: null, untold: null }
    : await performHere(control, 'adjustAccountLimits', { body: changes, key: flags.key }).catch((error: unknown) => {
        throw error instanceof NoLimitToShareError ? new UsageError(noLimitToShare, { cause: error }) : error;
      });
  const { accountId, maxConcurrentCalls, keepFree, pace, changed, untold } = limits;
  if (untold !== null) warnIfNotNotified(io, untold.campaignId, untold.why);
  const free = keepFree === 0 ? '' : `, of which ${percent(keepFree)} are kept free`;
  const lines = maxConcurrentCalls === null ? 'no limit of their own' : `${count(maxConcurrentCalls)} concurrent calls${free}`;
  writeAnswer(io, flags.json, {
    data: { accountId, changed: changed ?? unchanged, told: untold === null, limits: { maxConcurrentCalls, keepFree }, pace },
    words: `${[...changeLines(changed), `All campaigns at ${accountId} together: ${lines}`].join('\n')}\n`,
  });
}

const noLimitToShare = '--keep-free is a part of the limit of the account, which has none: add --max-concurrent-calls.';

function changeLines(change: Adjustment<object> | null): string[] {
  if (change === null) return [];
  return [changesNothing(change) ? 'Nothing changed: these are already the limits.' : `Changed: ${describeAdjustment({ ...change })}.`];
}

/** With the file's value where it differs. */
function limitLines({ limits: now, file }: Pick<AdjustedLimits, 'limits' | 'file'>): string[] {
  return adjustableLimits.map((name) => {
    const differs = now[name] === file[name] ? '' : `   (the file says ${file[name] ?? 'no limit'})`;
    return `  ${adjustable[name].key.padEnd(22)}${now[name] ?? 'no limit'}${differs}`;
  });
}

/** With the file's value where it differs. */
function termLines({ terms, fileTerms }: Pick<AdjustedLimits, 'terms' | 'fileTerms'>): string[] {
  return Object.entries(terms).map(([name, text]) => {
    const term = name as keyof typeof terms;
    const differs = text === fileTerms[term] ? '' : `   (the file says ${fileTerms[term]})`;
    return `  ${adjustableTerms[term].key.padEnd(22)}${text}${differs}`;
  });
}

export interface AdjustFlags extends Partial<Record<AdjustableLimit, string>> {
  account: boolean;
  dryRun: boolean;
  keepFree?: string;
  movedFrom?: string;
  yes: boolean;
  reset: boolean;
  json: boolean;
  key?: string;
}

/** `--max-concurrent-calls` is read as `maxConcurrentCalls`. */
function flagOf(name: AdjustableLimit): string {
  return `--${adjustable[name].key.replaceAll('_', '-')}`;
}

/** Bounds and error texts are the campaign file's. `isLiftable`: `none` removes the limit. */
function readLimit(name: AdjustableLimit, text: string, { bounds, isLiftable } = adjustable[name]): number | null {
  if (isLiftable && text === 'none') return null;
  const parsed = bounds.safeParse(/^-?\d+$/.test(text) ? Number(text) : Number.NaN);
  if (parsed.success) return parsed.data;
  const advice = `${parsed.error.issues[0]?.message ?? 'write a number'}${isLiftable ? ', or none for no limit' : ''}`;
  throw new UsageError(`${flagOf(name)} is ${JSON.stringify(text)}; ${advice}.`);
}

/** Hours and retries as text. Throws UsageError. */
function readCampaignFlags(flags: AdjustFlags): Record<string, string | number | null> {
  if (flags.keepFree !== undefined)
    throw new UsageError('--keep-free is for the whole account: carillon adjust --account --keep-free 30%.');
  if (flags.movedFrom !== undefined)
    throw new UsageError('--moved-from is for the whole account: carillon adjust --account --moved-from <address>.');
  const limits = adjustableLimits.flatMap((name) => {
    const text = flags[name];
    return text === undefined ? [] : [[name, readLimit(name, text)]];
  });
  const terms = adjustableTermNames.flatMap((name) => {
    const text = termFlag(flags, name);
    return text === undefined ? [] : [[name, readTerm(name, text)]];
  });
  return Object.fromEntries([...limits, ...terms]) as Record<string, string | number | null>;
}

/** `--retry-no-answer` is read as `retryNoAnswer`. */
function termFlag(flags: AdjustFlags, name: keyof AdjustableTerms): string | undefined {
  const written = adjustableTerms[name].key.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return Reflect.get(flags, written) as string | undefined;
}

function readTerm(name: keyof AdjustableTerms, text: string): string {
  const { key, schema } = adjustableTerms[name];
  const parsed = schema.safeParse(text);
  if (parsed.success) return text;
  throw new UsageError(`--${key} is ${JSON.stringify(text)}; ${parsed.error.issues[0]?.message ?? 'write it as the help says'}.`);
}

/** Throws UsageError. */
export function readAccountFlags(flags: AdjustFlags): Partial<AccountLimits> {
  const { maxConcurrentCalls, keepFree } = flags;
  const limit = adjustableLimits.find((name) => name !== 'maxConcurrentCalls' && flags[name] !== undefined);
  const term = adjustableTermNames.find((name) => termFlag(flags, name) !== undefined);
  if (limit !== undefined || term !== undefined || flags.reset || flags.dryRun) {
    const ofCampaign = flags.dryRun ? '--dry-run' : '--reset';
    const flag = limit !== undefined ? flagOf(limit) : term === undefined ? ofCampaign : `--${adjustableTerms[term].key}`;
    throw new UsageError(`${flag} is for a campaign: name one instead of --account, such as carillon adjust reminders.`);
  }
  const lines = { ...adjustable.maxConcurrentCalls, isLiftable: true };
  return {
    ...(maxConcurrentCalls === undefined ? {} : { maxConcurrentCalls: readLimit('maxConcurrentCalls', maxConcurrentCalls, lines) }),
    ...(keepFree === undefined ? {} : { keepFree: readShare(keepFree) }),
  };
}

/** Percent as a part of 1. */
function readShare(text: string): number {
  const percent = Number(/^(\d{1,2}(?:\.\d)?)\s?%$/.exec(text.trim())?.[1] ?? Number.NaN);
  if (!Number.isNaN(percent)) return Math.round(percent * 10) / 1000;
  throw new UsageError(`--keep-free is ${JSON.stringify(text)}; write a share such as 30%, from 0% to 99%.`);
}

interface Move {
  config: Config;
  store: Store;
  flags: AdjustFlags;
  /** Address that the campaigns were started with. */
  from: string;
}

/** Throws UsageError, and ServiceUnusableError if no service responds at SVC_BASE_URL. */
async function moveAccount(io: Io, { config, store, flags, from }: Move): Promise<void> {
  if (Object.keys(readAccountFlags(flags)).length > 0)
    throw new UsageError('--moved-from takes no limits: set the limits of the account in a separate command.');
  if (flags.key !== undefined) throw new UsageError('--key does not go with --moved-from: a service that has moved is not moved again.');
  const { href, username, password } = parse(from);
  if (username !== '' || password !== '') throw new UsageError('--moved-from contains a user name or password: leave it out.');
  const to = accountIdOf(config);
  // A service must respond there: the campaigns will run by its clock.
  const clock = await readClock(config);
  const question = `Has the service at ${href} moved to ${to}, with all its calls and records? If it is a different service, recipients will be called twice.`;
  if (!(await mayBegin(io, flags.yes, question))) return;
  const moved = await moveService(store, { from, to, now: Math.round(clock.now()) });
  if (flags.json) writeJson(io, { from, to, campaigns: moved.map(({ campaignId }) => campaignId) });
  else if (moved.length === 0) io.stdout.write(`No campaign of this database belongs to ${from}; nothing was changed.\n`);
  else {
    const restart = 'Restart the workers with the new SVC_BASE_URL; running campaigns then continue by themselves.';
    io.stdout.write(`${plural(moved.length, 'campaign')} moved from ${from} to ${to}. ${restart}\n`);
  }
}

function parse(address: string): URL {
  if (URL.canParse(address)) return new URL(address);
  throw new UsageError(`--moved-from is ${JSON.stringify(address)}; write the old address in full, such as https://old.example/api.`);
}
