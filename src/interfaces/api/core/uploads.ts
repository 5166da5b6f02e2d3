import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyRequest } from 'fastify';
import type { Api } from './app.ts';
import type { ServerLimits } from './http-server.ts';
import { ProblemError } from '../../../operations/runs/problem.ts';
import type { SentFiles } from '../../../operations/list.ts';
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Multipart, MultipartFile } from '@fastify/multipart';
import { codeOf } from '../../../shared/input/errors.ts';

/** Allowance per file for its name and type in the form. */
const mostBesideBytes = 10_000;

/** Refuses files that are too large by the content-length, before reading them. */
export function refuseLongUploads(app: Api, { fileBytes }: Pick<ServerLimits, 'fileBytes'>): void {
  app.addHook('onRequest', async ({ headers, routeOptions: { config } }) => {
    const most = (config.files ?? []).length * (fileBytes + mostBesideBytes);
    if (most > 0 && Number(headers['content-length'] ?? 0) > most)
      throw new ProblemError(413, 'upload_too_large', `A file may have at most ${Math.floor(fileBytes / 1_000_000)} MB.`);
  });
}

/** Runs the work with a temporary folder and deletes it afterwards. */
export async function withFolder<Answer>(work: (folder: string) => Promise<Answer>): Promise<Answer> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-upload-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Saves exactly these files. Throws ProblemError for a missing, unexpected or oversized one. */
export async function receiveFiles(request: FastifyRequest, folder: string, names: readonly string[]): Promise<SentFiles> {
  if (!request.isMultipart())
    throw new ProblemError(415, 'not_multipart', `Send multipart/form-data with the files ${names.join(' and ')}.`);
  const [paths, hashes]: [Record<string, string>, Record<string, string>] = [{}, {}];
  for await (const part of readParts(request)) {
    const name = names.find((each) => each === part.fieldname);
    if (part.type === 'field' || name === undefined || name in paths) {
      const what = `The part ${JSON.stringify(part.fieldname)} is not expected, or came twice; send ${names.join(' and ')}.`;
      throw new ProblemError(400, 'upload', what);
    }
    const path = join(folder, name);
    [paths[name], hashes[name]] = [path, await keepFile(part, path)];
  }
  return requireFiles(names, { folder, paths, hashes });
}

/** Throws ProblemError if a file is missing. */
export function requireFiles(names: readonly string[], files: SentFiles): SentFiles {
  const missing = names.filter((name) => !(name in files.paths));
  if (missing.length > 0) throw new ProblemError(400, 'upload', `The file ${missing.join(' and ')} is missing.`);
  return files;
}

/** Default: the server's limits. */
type FormLimits = NonNullable<NonNullable<Parameters<FastifyRequest['parts']>[0]>['limits']>;

const tooManyParts = /^FST_(FIELDS|FILES|PARTS)_LIMIT$/;

/** Each part is read after the one before it. Throws ProblemError for an unreadable form. */
export async function* readParts(request: FastifyRequest, limits: FormLimits = {}): AsyncGenerator<Multipart> {
  try {
    yield* request.parts({ limits });
  } catch (error) {
    throw refusalOf(error);
  }
}

/** Returns the SHA-256. Stops reading an oversized file, which may be endless. */
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

/** The form parser's errors about malformed bytes have no code; a full disk has one. */
function refusalOf(error: unknown): unknown {
  if (error instanceof ProblemError) return error;
  const code = codeOf(error);
  if (code !== null && tooManyParts.test(code))
    return new ProblemError(400, 'upload', 'The form has a field or file that is not expected: send the named files alone.');
  if (code !== null) return error;
  return new ProblemError(400, 'upload', 'The form cannot be read: it has no boundary, or breaks off before its end.');
}
