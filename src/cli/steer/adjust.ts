import { Command } from 'commander';
import { hasEnded } from '../../domain/lifecycle.ts';
import {
  adjustAccount,
  adjustCampaign,
  readLimits,
  type AccountLimits,
  type Adjustment,
  type PacingLimits,
} from '../../ledger/limits/adjustments.ts';
import { readAccount } from '../../ledger/limits/account-pace.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import { howToFix } from '../terminal/failure.ts';
import { moveAccount } from './account-move.ts';
import { readAccountWish, readCampaignWish, type AdjustFlags } from './adjust-flags.ts';
import { stateText } from '../../words/campaign.ts';
import { tellAdjustment } from '../../words/events.ts';
import type { Io } from '../terminal/io.ts';
import { writeAnswer } from '../terminal/json-output.ts';
import { requireCampaign, withLedger, type LedgerAccess } from '../../control/ledger.ts';
import { tellToLook } from '../../control/campaign-message.ts';
import { count, percent } from '../../input/figures.ts';
import { accountIdOf, readServiceTime } from '../../control/service.ts';
import { UsageError } from '../../input/usage-error.ts';

const examples = `
Changes the limits of a campaign from its next batch on; open calls continue. The campaign file and its hash do not change, and
--reset restores the limits from the file. With --account the command sets the limits shared by all campaigns of this database at
SVC_BASE_URL, and the share left to other traffic. Without any change it shows the current limits.

Use --moved-from only if the service, with all its calls and records, has moved from that address to SVC_BASE_URL; its campaigns
continue there. Never use it for a different service: open calls would look as if they had never been placed, and recipients would
be called twice.

Examples:
  carillon adjust reminders --max-concurrent-calls 40
  carillon adjust reminders --starts-per-minute none --priority 100
  carillon adjust reminders --reset
  carillon adjust --account --max-concurrent-calls 30 --keep-free 30%
  carillon adjust --account --moved-from https://old.example/api`;

/** `carillon adjust`: limits of a campaign that runs, or of the account that campaigns share. */
export function adjustCommand(io: Io): Command {
  return new Command('adjust')
    .description('Change the speed of a running campaign, or the limits of the account')
    .argument('[campaign]', 'id of the campaign; omit it with --account')
    .option('--account', 'change the limits shared by all campaigns of the account', false)
    .option('--max-concurrent-calls <count>', 'concurrent calls; with --account, none removes the limit')
    .option('--starts-per-minute <count>', 'calls started in any 60 seconds, or none for no limit')
    .option('--batch-size <count>', 'calls per request')
    .option('--priority <weight>', 'weight among campaigns that share an account, 1 to 100')
    .option('--keep-free <share>', 'with --account: share left to other traffic, such as 30%')
    .option('--moved-from <address>', 'with --account: the service has moved from this address to SVC_BASE_URL')
    .option('-y, --yes', 'with --moved-from: do not ask for confirmation', false)
    .option('--reset', 'restore the limits from the campaign file', false)
    .option('--json', 'print JSON', false)
    .addHelpText('after', examples)
    .action((campaignId: string | undefined, flags: AdjustFlags) => runAdjust(io, campaignId, flags));
}

/** Throws UsageError, and what the database throws. */
async function runAdjust(io: Io, campaignId: string | undefined, flags: AdjustFlags): Promise<void> {
  if (flags.account !== (campaignId === undefined)) {
    throw new UsageError(
      flags.account
        ? `Both a campaign (${campaignId}) and --account are named; name one.`
        : 'Name a campaign, such as carillon adjust reminders, or the whole account with --account.',
    );
  }
  await withLedger(io, (access) => {
    if (campaignId !== undefined) return adjustOne(io, access, campaignId, flags);
    const { movedFrom: from } = flags;
    return from === undefined ? adjustSharedLimits(io, access, flags) : moveAccount(io, { ...access, flags, from });
  });
}

async function adjustOne(io: Io, access: LedgerAccess, campaignId: string, flags: AdjustFlags): Promise<void> {
  const { config, store } = access;
  const wish = readCampaignWish(flags);
  const campaign = await requireCampaign(store, campaignId);
  const isQuestion = Object.keys(wish).length === 0 && !flags.reset;
  const change = isQuestion
    ? { from: {}, to: {} }
    : await adjustCampaign(store, campaignId, { wish, reset: flags.reset, now: await readServiceTime(io, config) });
  if (change === undefined) throw endedError(campaign);
  const told = isEmpty(change) || (await tellToLook(io, access, campaignId));
  const limits = await readLimits(store.db, campaignId);
  if (limits === undefined) return;
  writeAnswer(io, flags.json, {
    data: { campaignId, changed: change, told, limits: limits.now, file: limits.file },
    words: `${[...changeLines(change, isQuestion), ...limitLines(limits)].join('\n')}\n`,
  });
}

function endedError(campaign: Campaign): UsageError {
  const { campaignId: id } = campaign;
  if (campaign.state === 'failed')
    return new UsageError(`Campaign ${id} has failed, so there is no pace to change now.${howToFix(id)}`);
  const why = hasEnded(campaign) ? stateText(campaign) : 'at its end';
  return new UsageError(
    `Campaign ${id} is ${why}, so there is no pace to change. carillon retry ${id} calls rows of it again; then adjust it.`,
  );
}

async function adjustSharedLimits(io: Io, access: LedgerAccess, flags: AdjustFlags): Promise<void> {
  const { config, store } = access;
  const wish = readAccountWish(flags);
  const accountId = accountIdOf(config);
  const before = await readAccount(store.db, accountId);
  const limit = wish.maxConcurrentCalls === undefined ? before.maxConcurrentCalls : wish.maxConcurrentCalls;
  if (wish.keepFree !== undefined && limit === null)
    throw new UsageError(
      '--keep-free is a part of the limit of the account, which has none: add --max-concurrent-calls.',
    );
  const isQuestion = Object.keys(wish).length === 0;
  const change: Adjustment<AccountLimits> & { campaigns: Campaign[] } = isQuestion
    ? { from: {}, to: {}, campaigns: [] }
    : await adjustAccount(store, accountId, { wish, now: await readServiceTime(io, config) });
  let told = true;
  if (!isEmpty(change))
    for (const { campaignId } of change.campaigns) if (told) told = await tellToLook(io, access, campaignId);
  const { maxConcurrentCalls, keepFree, pace } = await readAccount(store.db, accountId);
  const limits = { maxConcurrentCalls, keepFree: keepFree / 1000 };
  const free = keepFree === 0 ? '' : `, of which ${percent(limits.keepFree)} are kept free`;
  const lines =
    maxConcurrentCalls === null ? 'no limit of their own' : `${count(maxConcurrentCalls)} concurrent calls${free}`;
  writeAnswer(io, flags.json, {
    data: { accountId, changed: { from: change.from, to: change.to }, told, limits, pace: pace / 1000 },
    words: `${[...changeLines(change, isQuestion), `All campaigns at ${accountId} together: ${lines}`].join('\n')}\n`,
  });
}

function isEmpty({ to }: Adjustment<object>): boolean {
  return Object.keys(to).length === 0;
}

function changeLines(change: Adjustment<object>, isQuestion: boolean): string[] {
  if (isQuestion) return [];
  return [
    isEmpty(change) ? 'Nothing changed: these are already the limits.' : `Changed: ${tellAdjustment({ ...change })}.`,
  ];
}

const names: Readonly<Record<keyof PacingLimits, string>> = {
  maxConcurrentCalls: 'max_concurrent_calls',
  startsPerMinute: 'starts_per_minute',
  batchSize: 'batch_size',
  priority: 'priority',
};

/** One line per limit, with what the file says where that is not what holds. */
function limitLines({ now, file }: { now: PacingLimits; file: PacingLimits }): string[] {
  return (Object.keys(names) as (keyof PacingLimits)[]).map((key) => {
    const differs = now[key] === file[key] ? '' : `   (the file says ${file[key] ?? 'no limit'})`;
    return `  ${names[key].padEnd(22)}${now[key] ?? 'no limit'}${differs}`;
  });
}
