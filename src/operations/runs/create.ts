import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { readCampaignFile } from '../../campaign/file/file.ts';
import { writeExample } from '../../shared/input/package-folder.ts';
import { checkAsJson, checkCampaign, refuseUnstartable } from '../control/check/check.ts';
import { checkedLedger } from '../control/check/ledger.ts';
import { requestReplan } from '../control/campaign-message.ts';
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
import { serviceNow, type RunContext, runsOf } from './run.ts';

const mostBadLines = 20;

/** Operations on uploaded files or text. */
export const createRuns = runsOf({
  createCampaign: {
    prepare: async (context, { files, query }) => {
      const file = await readSentCampaign(files);
      return { log: file.id, run: () => startRead(context, file, query.allow_partial) };
    },
  },
  startExample: {
    prepare: async (context) => {
      const { quickenSandbox } = context;
      if (quickenSandbox === undefined)
        throw new ProblemError(409, 'no_sandbox', 'This server has no sandbox, so the example was not started. carillon dev has one.');
      const log = await freeCampaignId(context, 'example');
      const run = async () => {
        quickenSandbox();
        return withExample(log, (file) => startRead(context, file, false));
      };
      return { log, run };
    },
  },
  checkCampaign: {
    run: async (context, { files }) => {
      const result = await checkCampaign({
        config: context.config,
        now: context.now(),
        file: await readSentCampaign(files),
        assumptions: usualAssumptions,
        openLedger: (campaign) => checkedLedger(context, campaign),
      });
      const { campaign, ...report } = checkAsJson(result) as { campaign: Record<string, unknown> };
      // Server paths must not be exposed.
      const { path: _path, list: _list, ...named } = campaign;
      const more = { refusal: refusalOf(result), warnings: result.warnings };
      return withInstants({ ...report, campaign: named, ...more }) as object as Answer<'checkCampaign'>;
    },
  },
  updateList: {
    run: async (context, { campaign: campaignId, files, query }): Promise<Answer<'updateList'>> => {
      const { dry_run: dryRun, add, restore, encoding } = query;
      const update = await openUpdate(context, { campaignId, path: files.paths.list, encoding });
      const counts = new UpdateCounts();
      for await (const rows of applyUpdate(context, update, { dryRun, add, restore })) counts.add(rows);
      const summary = counts.summary();
      const hasChanged = !dryRun && summary.accepted + summary.corrected > 0;
      const notice = hasChanged ? await requestReplan(context, campaignId) : null;
      return { campaignId, dryRun, ...summary, notice };
    },
  },
  importSuppressions: {
    run: async (context, { files, query: { region, column, campaign, expires_at: expiresAt } }) => {
      const badLines: number[] = [];
      const file = {
        path: files.paths.numbers,
        name: context.by,
        region,
        column,
        onBad: (line: number) => void (badLines.length < mostBadLines && badLines.push(line)),
        onProgress: () => {},
      };
      const counts = await importDoNotCall(context, file, { campaign, expiresAt: expiresAt === undefined ? null : Date.parse(expiresAt) });
      return { ...counts, badLines };
    },
  },
  createSchedule: {
    prepare: async (context, { body }) => {
      const { made, recurrence } = await readSchedule(context, body);
      return { log: made.campaignId, run: () => createSchedule(context, made, recurrence) };
    },
  },
  editSchedule: {
    run: async (context, { campaign, body: { campaign: text, list, ...written } }) => {
      if (text !== undefined) refuseOwnRules((await readCampaignText(fileName, text)).content);
      return editSchedule(context, campaign, { text, list, recurrence: readRecurrence(written, context.now(), String) });
    },
  },
  previewSchedule: {
    run: async (context, { body }) => {
      const { made, recurrence } = await readSchedule(context, body);
      return previewSchedule(context, made, recurrence);
    },
  },
});

async function startRead(context: RunContext, file: CampaignFile, allowPartial: boolean): Promise<Answer<'createCampaign'>> {
  const [notes, warnings]: [string[], string[]] = [[], []];
  const read = await readToStart(context, file, await serviceNow(context));
  const result = await startFromFile(context, read, {
    check: true,
    allowPartial,
    onNote: (note) => notes.push(note),
    onWarnings: (sentences) => warnings.push(...sentences),
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
async function readSchedule(context: RunContext, { campaign: text, list, ...written }: Taken<'createSchedule'>['body']) {
  const recurrence = readRecurrence(written, context.now(), String);
  refuseOwnRules((await readCampaignText(fileName, text)).content);
  return { made: await readNewSchedule(context, { path: fileName, text, list }), recurrence };
}

/** Stores the list under the plain name that the campaign file gives. Throws ProblemError and CampaignFileError. */
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
