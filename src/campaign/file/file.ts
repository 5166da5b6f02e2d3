import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { CampaignRules } from '../../rules/campaign-rules.ts';
import { describeIssues, problemAt } from '../../shared/input/problems.ts';
import { numberingAt } from '../../shared/input/numbering.ts';
import { campaignSchema } from './schema.ts';
import { readCampaignText } from '../../shared/input/yaml-text.ts';
import { CampaignFileError, describeFileError, ListFileError } from '../../shared/input/errors.ts';
import { legalHours, readLegalRules, refuseUnreadableRules } from './legal-rules.ts';
import { columnRules, refuseUnknownColumns } from './columns-of-rules.ts';
import { timingRules, timeRules } from './settings/times.ts';
import { breakerRules, pacingRules } from './settings/pacing.ts';
import { callerRules } from './settings/caller.ts';
import { capRules } from './settings/caps.ts';
import { consentRules } from './settings/consent.ts';
import { hookRules } from './settings/hooks.ts';
import { staysOpenRules } from './settings/list.ts';
import { pilotRules } from './settings/pilot.ts';
import { callbackRules } from './settings/callbacks.ts';
import { recordRules } from './settings/records.ts';
import { doubtSettings, retryRules } from './settings/retry.ts';
import { rulesOf } from '../../shared/input/setting.ts';
import { listTemplates, readTemplate, wordRules } from './settings/words.ts';
import type { CampaignFile } from './campaign-file.ts';

export function refusalOf(
  { path, lineOf }: Pick<CampaignFile, 'path' | 'lineOf'>,
  setting: readonly PropertyKey[],
  message: string,
): CampaignFileError {
  return new CampaignFileError(path, [problemAt(lineOf, setting, message)]);
}

export function refusalOfRows({ path, lineOf }: CampaignFile, message: string): CampaignFileError {
  return new CampaignFileError(path, [problemAt(lineOf, ['list'], message)], { isAboutRows: true });
}

/** Reads and validates a campaign file, or its stored text `kept`; paths resolve against the folder of `path`. Throws CampaignFileError. */
export async function readCampaignFile(path: string, kept?: string): Promise<CampaignFile> {
  const { content, lineOf } = await readCampaignText(path, kept);
  const parsed = campaignSchema.safeParse(content);
  if (!parsed.success) {
    throw new CampaignFileError(path, describeIssues(parsed.error.issues, content, campaignSchema, lineOf));
  }
  const settings = parsed.data;
  const problems = listTemplates(settings).flatMap(({ path: at, template }) => {
    const reading = readTemplate(template);
    return 'fault' in reading ? [problemAt(lineOf, at, reading.fault)] : [];
  });
  if (problems.length > 0) throw new CampaignFileError(path, problems);
  const { law } = settings;
  const { rules: written, none } = typeof law === 'boolean' ? { rules: null, none: [] } : law;
  const ownRules = written === null ? null : resolve(dirname(path), written);
  if (ownRules !== null) await refuseUnreadableRules(ownRules, { path, line: lineOf(['law']), value: String(written) });
  return {
    id: settings.id,
    name: settings.name ?? null,
    path,
    hash: createHash('sha256').update(canonicalJson(content)).digest('hex'),
    listPath: resolve(dirname(path), settings.list.file),
    delimiter: settings.list.delimiter,
    content: content as Record<string, unknown>,
    settings,
    law: law === false ? null : await readLegalRules(ownRules, none),
    lineOf,
  };
}

/** Freezes the rules at `nowMs`, with holidays from that year on. Throws CampaignFileError for a column that the list lacks. */
export function campaignRules(file: CampaignFile, columns: readonly string[], nowMs: number): CampaignRules {
  refuseUnknownColumns(file, columns);
  const { settings } = file;
  const { list } = settings;
  return {
    agentId: settings.agent_id,
    ...callerRules(settings),
    list: {
      columns: [...columns],
      ...columnRules(list, columns),
      defaultRegion: list.default_region ?? null,
      fallbackTimezone: list.fallback_timezone ?? null,
      ...(file.unnamedEncoding === undefined || list.encoding !== undefined ? { encoding: list.encoding ?? null } : {}),
      numbering: numberingAt(nowMs, list.unknown_ranges === 'call'),
    },
    ...wordRules(settings),
    ...consentRules(settings, columns),
    ...timeRules(settings, legalHours(file.law?.rules ?? [], nowMs), nowMs),
    caps: capRules(settings.caps),
    retry: retryRules(settings),
    pacing: pacingRules(settings),
    breaker: breakerRules(settings),
    ...hookRules(settings),
    ...recordRules(settings),
    ...callbackRules(settings),
    ...staysOpenRules(settings),
    ...pilotRules(settings),
    timing: timingRules(settings),
    ...rulesOf(doubtSettings, settings),
  };
}

export function refuseEndedCampaign(file: CampaignFile, nowMs: number): void {
  const end = file.settings.ends_at;
  if (end === undefined || end > nowMs) return;
  throw refusalOf(file, ['ends_at'], `${passedText(end, nowMs)}; write a later time, or leave the setting out`);
}

function passedText(at: number, nowMs: number): string {
  return `${new Date(at).toISOString()} has passed (it is ${new Date(nowMs).toISOString()})`;
}

/** Throws CampaignFileError for a past start or end: with a past start (a mistyped year) calls would begin at once. */
export function refusePassedTimes(file: CampaignFile, nowMs: number): void {
  refuseEndedCampaign(file, nowMs);
  const start = file.settings.starts_at;
  if (start === undefined || start >= nowMs) return;
  const fix = 'write a later time, or leave the setting out to begin at once';
  throw refusalOf(file, ['starts_at'], `${passedText(start, nowMs)}, so that calls would begin at once; ${fix}`);
}

/** SHA-256 (hex) of file and list: with a changed list it is another campaign. Throws ListFileError. */
export async function campaignHash(file: CampaignFile): Promise<string> {
  const list = createHash('sha256');
  try {
    for await (const chunk of createReadStream(file.listPath)) list.update(chunk as Buffer);
  } catch (error) {
    throw new ListFileError(file.listPath, describeFileError(error), { cause: error });
  }
  return createHash('sha256')
    .update(`${file.hash}\n${list.digest('hex')}`)
    .digest('hex');
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
