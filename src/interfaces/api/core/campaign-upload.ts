import { basename, join } from 'node:path';
import type { FastifyRequest } from 'fastify';
import { readCampaignFile, type CampaignFile } from '../../../campaign/file/file.ts';
import { readCampaignText } from '../../../shared/input/yaml-text.ts';
import { ProblemError } from './problem.ts';
import { renameUpload, withoutFolder, withUploads } from './uploads.ts';

/** A campaign file and its list, as they came. */
export interface CampaignUpload {
  file: CampaignFile;
  /** Of both, for the key of the request. */
  hashes: { campaign: string; list: string };
}

/**
 * Receives a campaign file and its list, and reads the campaign file. The list takes the name that the campaign file gives it, which has to
 * be a plain one: files of the server cannot be named. Throws ProblemError and CampaignFileError; no message holds a path of the server.
 */
export async function withCampaignUpload<Answer>(
  request: FastifyRequest,
  work: (upload: CampaignUpload) => Promise<Answer>,
): Promise<Answer> {
  return withUploads(request, ['campaign', 'list'], async ({ folder, paths, hashes }) => {
    try {
      const path = join(folder, 'campaign.yaml');
      await renameUpload(folder, paths.campaign, 'campaign.yaml');
      await renameUpload(folder, paths.list, await listNameOf(path));
      return await work({ file: await readCampaignFile(path), hashes });
    } catch (error) {
      throw withoutFolder(error, folder);
    }
  });
}

/** The name of the list in the campaign file, before anything that it names is opened. */
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

/** `content`: of a campaign file that was sent. Throws ProblemError where it names a file of rules, which would be one of the server. */
export function refuseOwnRules(content: unknown): void {
  if ((content as { law?: { rules?: unknown } } | null)?.law?.rules == null) return;
  const detail = 'law.rules names a file of rules, which cannot be sent: use this campaign file on the command line.';
  throw new ProblemError(422, 'campaign_file', detail);
}
