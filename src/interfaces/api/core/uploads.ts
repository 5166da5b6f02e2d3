import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, basename } from 'node:path';
import type { FastifyRequest } from 'fastify';
import type { Api } from './app.ts';
import type { ServerLimits } from './http-server.ts';
import { ProblemError, problemOf } from './problem.ts';
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Multipart, MultipartFile } from '@fastify/multipart';
import { codeOf } from '../../../shared/input/errors.ts';
import { readCampaignFile } from '../../../campaign/file/file.ts';
import { writeExample } from '../../../shared/input/package-folder.ts';
import { readCampaignText } from '../../../shared/input/yaml-text.ts';
import type { CampaignFile } from '../../../campaign/file/campaign-file.ts';

/** Files that came with a request, in a folder that is gone after it. */
export interface Uploads<Name extends string> {
  folder: string;
  paths: Readonly<Record<Name, string>>;
  /** SHA-256 of each: the same files under another key are another request, and the same one under the same key. */
  hashes: Readonly<Record<Name, string>>;
}

/** Beside each file a form holds its name and its type. */
const mostBesideBytes = 10_000;

/** Refuses a request that says itself that its files are too large, before anything of it is read. */
export function refuseLongUploads(app: Api, { fileBytes }: Pick<ServerLimits, 'fileBytes'>): void {
  app.addHook('onRequest', async ({ headers, routeOptions: { config } }) => {
    const most = (config.files ?? []).length * (fileBytes + mostBesideBytes);
    if (most > 0 && Number(headers['content-length'] ?? 0) > most)
      throw new ProblemError(413, 'upload_too_large', `A file may have at most ${Math.floor(fileBytes / 1_000_000)} MB.`);
  });
}

/** Receives exactly these files, does the work, and removes them. Throws ProblemError for a file that is missing, too many or too large. */
export async function withUploads<Name extends string, Answer>(
  request: FastifyRequest,
  names: readonly Name[],
  work: (uploads: Uploads<Name>) => Promise<Answer>,
): Promise<Answer> {
  if (!request.isMultipart())
    throw new ProblemError(415, 'not_multipart', `Send multipart/form-data with the files ${names.join(' and ')}.`);
  const folder = await mkdtemp(join(tmpdir(), 'carillon-upload-'));
  try {
    const [paths, hashes]: [Record<string, string>, Record<string, string>] = [{}, {}];
    for await (const part of readParts(request)) {
      const name = names.find((each) => each === part.fieldname);
      if (part.type === 'field' || name === undefined || name in paths)
        throw new ProblemError(
          400,
          'upload',
          `The part ${JSON.stringify(part.fieldname)} is not expected, or came twice; send ${names.join(' and ')}.`,
        );
      const path = join(folder, name);
      [paths[name], hashes[name]] = [path, await keepFile(part, path)];
    }
    const missing = names.filter((name) => !(name in paths));
    if (missing.length > 0) throw new ProblemError(400, 'upload', `The file ${missing.join(' and ')} is missing.`);
    return await work({ folder, paths: paths as Record<Name, string>, hashes: hashes as Record<Name, string> });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Gives a file that was received the name under which another one speaks of it: a plain name, so that nothing else can be meant. */
export async function renameUpload(folder: string, path: string, name: string): Promise<void> {
  await rename(path, join(folder, name));
}

/** The refusal that an error comes to, without the folder: where files lie here is nobody's business. */
export function withoutFolder(error: unknown, folder: string): unknown {
  const given = problemOf(error);
  if (given.status >= 500 || error instanceof ProblemError) return error;
  return ProblemError.of({ ...given, detail: given.detail.replaceAll(`${folder}/`, '') });
}

/** Bounds of a form; what is left out is the server's. */
type FormLimits = NonNullable<NonNullable<Parameters<FastifyRequest['parts']>[0]>['limits']>;

const tooManyParts = /^FST_(FIELDS|FILES|PARTS)_LIMIT$/;

/** The parts of a form, each when the one before it has been read. Throws ProblemError for a form that cannot be read. */
export async function* readParts(request: FastifyRequest, limits: FormLimits = {}): AsyncGenerator<Multipart> {
  try {
    yield* request.parts({ limits });
  } catch (error) {
    throw refusalOf(error);
  }
}

/** Keeps the file of a part at a path, and answers its SHA-256. What is too large is not read to its end, since it may have none. */
export async function keepFile({ fieldname, file }: MultipartFile, path: string): Promise<string> {
  const hash = createHash('sha256');
  const hashed = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  file.once('limit', () => file.destroy(new ProblemError(413, 'upload_too_large', `The file ${fieldname} is too large.`)));
  await pipeline(file, hashed, createWriteStream(path, { mode: 0o600 })).catch((error: unknown) => {
    throw refusalOf(error);
  });
  return hash.digest('hex');
}

/** Whoever reads the form names no code for what is wrong with its bytes; a disk that is full has one. */
function refusalOf(error: unknown): unknown {
  if (error instanceof ProblemError) return error;
  const code = codeOf(error);
  if (code !== null && tooManyParts.test(code))
    return new ProblemError(400, 'upload', 'The form has a field or file that is not expected: send the named files alone.');
  if (code !== null) return error;
  return new ProblemError(400, 'upload', 'The form cannot be read: it has no boundary, or breaks off before its end.');
}

interface CampaignUpload {
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

/** Does the work with the example campaign under this id, in a folder that is gone after it. */
export async function withExample<Answer>(campaignId: string, work: (file: CampaignFile) => Promise<Answer>): Promise<Answer> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-example-'));
  try {
    return await work(await readCampaignFile(await writeExample(folder, campaignId)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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
