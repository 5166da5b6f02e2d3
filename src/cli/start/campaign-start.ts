import type { Client } from '@temporalio/client';
import { checkCaller } from '../../preflight/caller-check.ts';
import { refusePassedTimes } from '../../campaign-file/file.ts';
import { CampaignFileError } from '../../input/errors.ts';
import { importList, type ListImport, type ReadCampaign } from '../../import/import-list.ts';
import type { Config } from '../../config.ts';
import type { CallerStanding } from '../../domain/caller-choice.ts';
import type { CampaignRules } from '../../domain/campaign-rules.ts';
import { hasEnded } from '../../domain/lifecycle.ts';
import { requireHookSecret } from '../../temporal/hook-secret.ts';
import { findCampaign, toCampaign, type Campaign } from '../../ledger/rows/campaigns.ts';
import { nextDueAt } from '../../ledger/limits/counters.ts';
import type { Store } from '../../ledger/open-ledger.ts';
import type { Round } from '../../ledger/campaign/rounds.ts';
import { requireStartable, startCampaign } from '../../temporal/start-campaign.ts';
import { callersLeftOut } from '../../words/callers.ts';
import type { Io } from '../terminal/io.ts';
import { RowProgress } from '../terminal/row-progress.ts';
import { accountIdOf, readClock, readClockOrReal, ServiceUnusableError, withService } from '../../control/service.ts';

/** With `--no-check`, at most this long is waited for the service's clock. */
const clockLimitMs = 2_000;

export interface StartInput {
  config: Config;
  store: Store;
  /** Connects when it comes to that: a campaign that has ended needs no Temporal. */
  connect: () => Promise<Client>;
  /** Whether to ask the service about key, agent and number first; a campaign that exists was asked about before. */
  check: boolean;
  /** Start although not everybody can be called before the end. */
  allowPartial?: boolean;
}

export type StartResult =
  | { kind: 'started' | 'attached'; imported: boolean; campaign: Campaign; round: Round }
  /** All its recipients have an outcome. */
  | { kind: 'ended'; campaign: Campaign };

/** Thrown when the service would not take the campaign's calls; nothing was imported. */
export class CallerRefusedError extends Error {
  override readonly name = 'CallerRefusedError' as const;
  readonly exitCode = 1;
}

/**
 * Imports a campaign if the database does not have it, and starts its workflow or attaches to it. Safe to repeat at any point: what an
 * earlier try has done is not done again. Throws CampaignConflictError when the database has it from another file.
 */
export async function startFromFile(io: Io, read: ReadCampaign, input: StartInput): Promise<StartResult> {
  const { config, store } = input;
  const existing = await findCampaign(store.db, read.file.id);
  const listImport = { store, read, accountId: accountIdOf(config), allowPartial: input.allowPartial ?? false };
  if (existing !== undefined) {
    // Refuses another file or list under its id, and reads no row.
    await importList({ ...listImport, now: io.now() });
    const ended = existing.state === 'completed' || existing.state === 'cancelled';
    if (ended && (await nextDueAt(store.db, existing.campaignId)) === null)
      return { kind: 'ended', campaign: existing };
  }
  if (existing === undefined) {
    requireHookSecret(config, read.file.id, read.rules);
    await refuseOtherSharedWords(store, read);
  }
  // Who wants the service not to be asked gets the clock of this machine when it does not answer.
  const clock = input.check ? await readClock(config) : await readClockOrReal(config, clockLimitMs, () => io.now());
  if (existing === undefined) {
    refusePassedTimes(read.file, clock.now());
    const numbers = input.check ? await requireCaller(config, read.rules) : [];
    for (const note of callersLeftOut(numbers)) io.stderr.write(`${note}\n`);
  }
  const client = await input.connect();
  const now = Math.round(clock.now());
  if (existing === undefined) {
    await requireStartable({ config, store, client }, read.file.id);
    await importRows(io, { ...listImport, now });
  }
  const started = await startCampaign({ config, store, client, now }, read.file.id);
  const campaign = await findCampaign(store.db, read.file.id);
  if (campaign === undefined) throw new Error(`campaign ${read.file.id} has gone from the database`);
  if (started === undefined) return { kind: 'ended', campaign };
  return {
    kind: started.attached ? 'attached' : 'started',
    imported: existing === undefined,
    campaign,
    round: started.round,
  };
}

/** Refuses a second way to treat calls of one agent that begin with the same words: the looser one would undo the stricter. */
async function refuseOtherSharedWords(store: Store, { file, rules }: ReadCampaign): Promise<void> {
  const rows = await store.db.selectFrom('campaigns').selectAll().where('agent_id', '=', rules.agentId).execute();
  const other = rows
    .map(toCampaign)
    .filter((campaign) => campaign.state !== 'importing' && !hasEnded(campaign))
    .find((campaign) => campaign.rules.sharedWords !== rules.sharedWords);
  if (other === undefined) return;
  const message =
    `campaign ${file.id} says ${rules.sharedWords}, and campaign ${other.campaignId}, which has not ended, says ${other.rules.sharedWords} ` +
    `for the same agent ${rules.agentId}: write ${other.rules.sharedWords}, wait for the end of ${other.campaignId}, or use another agent`;
  const path = 'shared_words';
  throw new CampaignFileError(file.path, [{ line: file.lineOf([path]), path, message }]);
}

/** Asks the service for agent and numbers; answers what it says of each number. Throws CallerRefusedError when no call could be made. */
export async function requireCaller(config: Config, rules: CampaignRules): Promise<readonly CallerStanding[]> {
  const check = await withService(config, (client) => checkCaller(client, rules)).catch((error: unknown) => {
    if (!(error instanceof ServiceUnusableError)) throw error;
    const { message, cause } = error;
    throw new CallerRefusedError(`${message} Nothing was imported and no call was placed.`, { cause });
  });
  if (!check.ok) throw new CallerRefusedError(`${check.reason}. Nothing was imported and no call was placed.`);
  return check.numbers;
}

async function importRows(io: Io, input: ListImport): Promise<void> {
  const { file, header } = input.read;
  for (const note of header.notes) io.stderr.write(`List ${file.settings.list.file}: ${note}.\n`);
  const progress = new RowProgress(io, 'imported');
  const onProgress = (count: number): void => progress.update(count);
  const warnings = await importList({ ...input, onProgress }).finally(() => progress.clear());
  for (const warning of warnings) io.stderr.write(`Warning: ${warning}.\n`);
  if (warnings.length > 0) io.stderr.write(`carillon check ${file.path} says more.\n`);
}
