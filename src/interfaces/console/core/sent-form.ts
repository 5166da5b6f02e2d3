import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyRequest } from 'fastify';
import { ProblemError } from '../../api/core/problem.ts';
import { keepFile, readParts } from '../../api/core/received-form.ts';
import type { Sent } from './action.ts';

const mostFields = 50;
const mostFieldBytes = 1_000_000;
/** The API takes larger ones. */
const mostFileBytes = 100_000_000;

/**
 * Does the work with what a form has sent; its files lie in a folder that is gone afterwards. `names`: fields that may hold a file, of
 * which one without a file is left out. Throws ProblemError for what is too large or not expected.
 */
export async function withSentForm<Answer>(
  request: FastifyRequest,
  names: readonly string[],
  work: (sent: Pick<Sent, 'fields' | 'files'>) => Promise<Answer>,
): Promise<Answer> {
  if (!request.isMultipart()) return work({ fields: request.body as URLSearchParams, files: {} });
  const folder = await mkdtemp(join(tmpdir(), 'carillon-form-'));
  try {
    const fields = new URLSearchParams();
    const files: Record<string, Blob> = {};
    const limits = { fields: mostFields, fieldSize: mostFieldBytes, fileSize: mostFileBytes };
    for await (const part of readParts(request, limits)) {
      if (part.type === 'field') {
        if (part.valueTruncated) throw new ProblemError(413, 'too_large', `What was written in ${part.fieldname} is too long.`);
        fields.append(part.fieldname, String(part.value));
        continue;
      }
      const { fieldname } = part;
      if (!names.includes(fieldname) || fieldname in files)
        throw new ProblemError(400, 'upload', `A file ${JSON.stringify(fieldname)} is not expected, or came twice.`);
      const path = join(folder, fieldname);
      await keepFile(part, path);
      if ((await stat(path)).size > 0) files[fieldname] = await openAsBlob(path);
    }
    return await work({ fields, files });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
