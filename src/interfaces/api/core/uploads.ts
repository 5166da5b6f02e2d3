import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyRequest } from 'fastify';
import type { Api } from './app.ts';
import type { ServerLimits } from './http-server.ts';
import { ProblemError, problemOf } from './problem.ts';
import { keepFile, readParts } from './received-form.ts';

/** Files that came with a request, in a folder that is gone after it. */
export interface Uploads<Name extends string> {
  folder: string;
  /** Where each lies, by the name of its part. */
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
  const { status, code, detail } = problemOf(error);
  if (status >= 500 || error instanceof ProblemError) return error;
  return new ProblemError(status, code, detail.replaceAll(`${folder}/`, ''));
}
