import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { readCampaignFile } from '../../campaign/file/file.ts';
import { writeExample } from '../../shared/input/package-folder.ts';
import { checkAsJson, checkCampaign, refuseUnstartable } from '../control/check/check.ts';
import { checkedLedger } from '../control/check/ledger.ts';
import { tellToLook } from '../control/campaign-message.ts';
import { createSchedule, editSchedule, previewSchedule, readNewSchedule } from '../control/schedules/create.ts';
import { readRecurrence } from '../control/schedules/recurrence.ts';
import { freeCampaignId, readToStart, startFromFile } from '../control/start.ts';
import { importDoNotCall } from '../control/suppress.ts';
import { UpdateCounts } from '../control/update-rows.ts';
import { applyUpdate, openUpdate } from '../control/update.ts';
import { usualAssumptions } from '../../campaign/preflight/campaign-forecast.ts';
import type { CampaignFile } from '../../campaign/file/campaign-file.ts';
import { CampaignFileError } from '../../shared/input/errors.ts';
import { withInstants } from '../../shared/input/times.ts';
import { readCampaignText } from '../../shared/input/yaml-text.ts';
import type { Answer, SentFiles, Taken } from '../list.ts';
import { ProblemError } from './problem.ts';
import { serviceNow, type Doing, runsOf } from './run.ts';

const mostBadLines = 20;

/** Operations on uploaded files or text. */
export const createRuns = runsOf({
  createCampaign: {
    prepare: async (doing, { files, query }) => {
      const file = await readSentCampaign(files);
      return { log: file.id, run: () => startRead(doing, file, query.allow_partial) };
    },
  },
  startExample: {
    prepare: async (doing) => {
      const { quickenSandbox } = doing;
      if (quickenSandbox === undefined)
        throw new ProblemError(409, 'no_sandbox', 'This server has no sandbox, so the example was not started. carillon dev has one.');
      const log = await freeCampaignId(doing, 'example');
      const run = async () => {
        quickenSandbox();
        return withExample(log, (file) => startRead(doing, file, false));
      };
      return { log, run };
    },
  },
  checkCampaign: {
    run: async (doing, { files }) => {
      const result = await checkCampaign({
        config: doing.config,
        now: doing.now(),
        file: await readSentCampaign(files),
        assumptions: usualAssumptions,
        openLedger: (campaign) => checkedLedger(doing, campaign),
      });
      const { campaign, ...told } = checkAsJson(result) as { campaign: Record<string, unknown> };
      // Server paths must not be exposed.
      const { path: _path, list: _list, ...named } = campaign;
      const more = { refusal: refusalOf(result), warnings: result.warnings };
      return withInstants({ ...told, campaign: named, ...more }) as object as Answer<'checkCampaign'>;
    },
  },
  updateList: {
    run: async (doing, { campaign: campaignId, files, query }): Promise<Answer<'updateList'>> => {
      const { dry_run: dryRun, add, restore, encoding } = query;
      const update = await openUpdate(doing, { campaignId, path: files.paths.list, encoding });
      const counts = new UpdateCounts();
      for await (const rows of applyUpdate(doing, update, { dryRun, add, restore })) counts.add(rows);
      const summary = counts.summary();
      const hasChanged = !dryRun && summary.accepted + summary.corrected > 0;
      const notice = hasChanged ? await tellToLook(doing, campaignId) : null;
      return { campaignId, dryRun, ...summary, notice };
    },
  },
  importSuppressions: {
    run: async (doing, { files, query: { region, column, campaign, expires_at: expiresAt } }) => {
      const badLines: number[] = [];
      const file = {
        path: files.paths.numbers,
        name: doing.by,
        region,
        column,
        onBad: (line: number) => void (badLines.length < mostBadLines && badLines.push(line)),
        onProgress: () => {},
      };
      const counts = await importDoNotCall(doing, file, { campaign, expiresAt: expiresAt === undefined ? null : Date.parse(expiresAt) });
      return { ...counts, badLines };
    },
  },
  createSchedule: {
    prepare: async (doing, { body }) => {
      const { made, recurrence } = await readSchedule(doing, body);
      return { log: made.campaignId, run: () => createSchedule(doing, made, recurrence) };
    },
  },
  editSchedule: {
    run: async (doing, { campaign, body: { campaign: text, list, ...written } }) => {
      if (text !== undefined) refuseOwnRules((await readCampaignText(fileName, text)).content);
      return editSchedule(doing, campaign, { text, list, recurrence: readRecurrence(written, doing.now(), String) });
    },
  },
  previewSchedule: {
    run: async (doing, { body }) => {
      const { made, recurrence } = await readSchedule(doing, body);
      return previewSchedule(doing, made, recurrence);
    },
  },
});

async function startRead(doing: Doing, file: CampaignFile, allowPartial: boolean): Promise<Answer<'createCampaign'>> {
  const [notes, warnings]: [string[], string[]] = [[], []];
  const read = await readToStart(doing, file, await serviceNow(doing));
  const result = await startFromFile(doing, read, {
    check: true,
    allowPartial,
    onNote: (note) => notes.push(note),
    onWarnings: (told) => warnings.push(...told),
  });
  const { campaignId, state, rowsTotal, rowsRejected } = result.campaign;
  const [imported, round] = result.kind === 'ended' ? [false, null] : [result.imported, result.round.round];
  return { campaignId, result: result.kind, imported, state, round, rowsTotal, rowsRejected, notes, warnings };
}

/** Null: a start would not be refused. */
function refusalOf(result: Parameters<typeof refuseUnstartable>[0]): string | null {
  const { service } = result.report;
  try {
    refuseUnstartable(result);
    return service.asked ? service.refusal : null;
  } catch (error) {
    if (!(error instanceof CampaignFileError)) throw error;
    return error.problems.map(({ path, message }) => `${path}: ${message}`).join('\n');
  }
}

const fileName = 'campaign.yaml';

/** Validates all before any write. Throws ProblemError, and as `readNewSchedule` and `readRecurrence`. */
async function readSchedule(doing: Doing, { campaign: text, list, ...written }: Taken<'createSchedule'>['body']) {
  const recurrence = readRecurrence(written, doing.now(), String);
  refuseOwnRules((await readCampaignText(fileName, text)).content);
  return { made: await readNewSchedule(doing, { path: fileName, text, list }), recurrence };
}

/**
 * Stores the list under the plain name that the campaign file gives it: server files cannot be named. Throws ProblemError and
 * CampaignFileError.
 */
async function readSentCampaign({ folder, paths }: SentFiles<'campaign' | 'list'>): Promise<CampaignFile> {
  const path = join(folder, 'campaign.yaml');
  await rename(paths.campaign, path);
  await rename(paths.list, join(folder, await listNameOf(path)));
  return readCampaignFile(path);
}

/** Runs `work` with the example campaign in a temporary folder. */
async function withExample<Answer>(campaignId: string, work: (file: CampaignFile) => Promise<Answer>): Promise<Answer> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-example-'));
  try {
    return await work(await readCampaignFile(await writeExample(folder, campaignId)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Reads the list's name before any named file is opened. */
async function listNameOf(path: string): Promise<string> {
  const { content } = await readCampaignText(path);
  refuseOwnRules(content);
  const name = (content as { list?: { file?: unknown } } | null)?.list?.file;
  if (typeof name !== 'string' || name === '') return 'list.csv';
  if (name !== basename(name) || name.includes('\\') || ['.', '..', 'campaign.yaml'].includes(name))
    throw new ProblemError(
      422,
      'campaign_file',
      `list.file is ${JSON.stringify(name)}; write the name of the list alone, such as list.csv.`,
    );
  return name;
}

/** Throws ProblemError when an uploaded campaign file names a rules file, which would be the server's. */
function refuseOwnRules(content: unknown): void {
  if ((content as { law?: { rules?: unknown } } | null)?.law?.rules == null) return;
  const detail = 'law.rules names a file of rules, which cannot be sent: use this campaign file on the command line.';
  throw new ProblemError(422, 'campaign_file', detail);
}
