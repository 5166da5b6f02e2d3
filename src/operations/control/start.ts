import { checkCaller, startRefusal } from '../../campaign/preflight/caller-check.ts';
import { refusePassedTimes } from '../../campaign/file/file.ts';
import { foreseen, CampaignFileError, ListEncodingError } from '../../shared/input/errors.ts';
import { importList, readCampaign, type ListImport, type ReadCampaign } from '../../campaign/preflight/import-list.ts';
import type { Config } from '../../shared/config.ts';
import type { CampaignRules } from '../../rules/campaign-rules.ts';
import type { ServiceApi } from '../../rules/service-api.ts';
import { hasEnded } from '../../rules/lifecycle.ts';
import { hasWorkflow, requireHookSecret, requireStartable, startCampaign } from '../../temporal/start-campaign.ts';
import { findCampaign, listCampaigns, type Campaign } from '../../ledger/rows/campaigns.ts';
import { nextDueAt } from '../../ledger/limits/counters.ts';
import type { Round } from '../../ledger/campaign/rounds.ts';
import type { Control } from './control.ts';
import { requireCampaign } from './ledger.ts';
import { accountIdOf, readClock, readClockOrReal, ServiceUnusableError, withService } from './service.ts';
import type { Store } from '../../ledger/tx.ts';
import type { CampaignFile } from '../../campaign/file/campaign-file.ts';

/** Without a check, the maximum wait for the service's clock. */
const clockLimitMs = 2_000;

export interface StartListener {
  /** Sentences on how the list was read. */
  onNote: (note: string) => void;
  /** Absent: the list is imported in the background. */
  onProgress?: (rows: number) => void;
  /** Sentences without a full stop; called once, and only with any. */
  onWarnings: (warnings: readonly string[]) => void;
}

interface StartInput extends StartListener {
  /** Checks key, agent and number with the service; an existing campaign was checked before. */
  check: boolean;
  /** Start even if not all can be called before the end. */
  allowPartial: boolean;
}

export type StartResult =
  | { kind: 'started' | 'attached'; imported: boolean; campaign: Campaign; round: Round }
  /** Every recipient has an outcome. */
  | { kind: 'ended'; campaign: Campaign };

/** Thrown when the service would refuse the calls; nothing was imported. */
export class CallerRefusedError extends foreseen('CallerRefusedError', false) {}

/** Reads a campaign older than named encodings as it was read then. Throws CampaignFileError and ListFileError. */
export async function readToStart({ store }: Pick<Control, 'store'>, file: CampaignFile, now: number): Promise<ReadCampaign> {
  try {
    return await readCampaign(file, now);
  } catch (error) {
    const begun = error instanceof ListEncodingError ? await findCampaign(store.db, file.id) : undefined;
    if (begun === undefined || begun.rules.list.encoding !== undefined) throw error;
    return readCampaign({ ...file, unnamedEncoding: 'western' }, now);
  }
}

/**
 * Imports a campaign unless the database has it, and starts its workflow or attaches to it. Safe to repeat at any point. An ended campaign
 * needs no Temporal. Throws CampaignConflictError when the database has it from another file; CampaignFileError and ListFileError;
 * CallerRefusedError and ServiceUnusableError, with `check`; ConfigError; and as `temporal` and `startCampaign`. By default an error means
 * that nothing was imported.
 */
export async function startFromFile(control: Control, read: ReadCampaign, input: StartInput): Promise<StartResult> {
  const { config, store } = control;
  const existing = await findCampaign(store.db, read.file.id);
  const listImport = { store, read, accountId: accountIdOf(config), api: config.SVC_API, allowPartial: input.allowPartial };
  if (existing !== undefined) {
    // Throws for another file or list, without reading a row.
    await importList({ ...listImport, now: control.now() });
    const ended = existing.state === 'completed' || existing.state === 'cancelled';
    if (ended && (await nextDueAt(store.db, existing.campaignId)) === null) return { kind: 'ended', campaign: existing };
  }
  if (existing === undefined) {
    requireHookSecret(config, read.file.id, read.rules);
    await refuseOtherSharedWords(store, read);
  }
  // Without a check this machine's clock replaces an unanswering service's.
  const clock = input.check ? await readClock(config) : await readClockOrReal(config, clockLimitMs, () => control.now());
  if (existing === undefined) {
    refusePassedTimes(read.file, clock.now());
    const notes = input.check ? await requireCaller(config, read.rules) : [];
    if (notes.length > 0) input.onWarnings([...notes]);
  }
  const { client } = await control.temporal();
  const now = Math.round(clock.now());
  if (existing === undefined) {
    await requireStartable({ config, store, client }, read.file.id);
    await importRows(control, { ...listImport, now }, input);
  }
  const started = await startCampaign({ config, store, client, now }, read.file.id);
  const campaign = await requireCampaign(store, read.file.id);
  if (started === undefined) return { kind: 'ended', campaign };
  return {
    kind: started.attached ? 'attached' : 'started',
    imported: existing === undefined,
    campaign,
    round: started.round,
  };
}

/** `example`, `example-2` and so on: unused here and in Temporal, which another database may share. */
export async function freeCampaignId(control: Control, stem: string): Promise<string> {
  const { client } = await control.temporal();
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? stem : `${stem}-${number}`;
    if ((await findCampaign(control.store.db, id)) === undefined && !(await hasWorkflow(client, id))) return id;
  }
}

/** Two ways to treat calls of one agent with the same first words conflict: the looser would undo the stricter. */
async function refuseOtherSharedWords(store: Store, { file, rules }: ReadCampaign): Promise<void> {
  const others = (await listCampaigns(store.db)).filter((campaign) => campaign.rules.agentId === rules.agentId && !hasEnded(campaign));
  const other = others.find((campaign) => campaign.rules.sharedWords !== rules.sharedWords);
  if (other === undefined) return;
  const message =
    `campaign ${file.id} says ${rules.sharedWords}, and campaign ${other.campaignId}, which has not ended, says ${other.rules.sharedWords} ` +
    `for the same agent ${rules.agentId}: write ${other.rules.sharedWords}, wait for the end of ${other.campaignId}, or use another agent`;
  const path = 'shared_words';
  throw new CampaignFileError(file.path, [{ line: file.lineOf([path]), path, message }]);
}

/** Answers oddities of the agent. Throws CallerRefusedError when a call could not be made, or a number may not call. */
export async function requireCaller(config: Config, rules: CampaignRules): Promise<readonly string[]> {
  const check = await withService(config, (service) => checkCaller(service, rules)).catch((error: unknown) => {
    if (!(error instanceof ServiceUnusableError)) throw error;
    const { message, cause } = error;
    throw new CallerRefusedError(`${message} Nothing was imported and no call was placed.`, { cause });
  });
  const refusal = startRefusal(check);
  if (refusal !== null) throw new CallerRefusedError(`${refusal}. Nothing was imported and no call was placed.`);
  return check.ok ? check.notes : [];
}

async function importRows(
  control: Control,
  input: ListImport & { api: ServiceApi },
  { onNote, onProgress, onWarnings }: StartListener,
): Promise<void> {
  const { file, header } = input.read;
  for (const note of header.notes) onNote(`List ${file.settings.list.file}: ${note}.`);
  const { accountId, api, now, allowPartial } = input;
  const warnings =
    onProgress === undefined
      ? await control.aside.work('importFile', { path: file.path, accountId, api, now, allowPartial })
      : await importList({ ...input, onProgress });
  if (warnings.length > 0) onWarnings(warnings);
}
