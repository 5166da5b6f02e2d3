import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyRequest } from 'fastify';
import { ProblemError } from '../../api/core/problem.ts';
import { keepFile, readParts } from '../../api/core/uploads.ts';
import { ListFileError } from '../../../shared/input/errors.ts';
import { printable } from '../../../shared/input/printable.ts';
import { readListSample, type ListSample } from '../../../list/sample.ts';
import type { DraftFields } from './settings.ts';

/** The largest list that the page takes. */
export const mostListBytes = 100_000_000;
/** Beside the list, a request holds some hundred bytes. */
const mostRequestBytes = mostListBytes + 100_000;
const sampleRows = 50;

/** Thrown when what was sent is no list that can be used; nothing of it was kept. */
export class ListRefusedError extends Error {
  override readonly name = 'ListRefusedError' as const;
  readonly status: number;
  /** What was chosen beside the list. */
  readonly fields: DraftFields;

  constructor(status: number, message: string, fields: DraftFields = {}) {
    super(message);
    this.status = status;
    this.fields = fields;
  }
}

/** A list that was received, in a file that is gone after the work. */
export interface ReceivedList {
  name: string;
  sample: ListSample;
  fields: DraftFields;
  /** Its bytes, once. */
  content: AsyncIterable<Buffer>;
}

/** Receives the list of an upload form and reads what it begins with. Throws ListRefusedError. */
export async function withReceivedList<Answer>(request: FastifyRequest, work: (list: ReceivedList) => Promise<Answer>): Promise<Answer> {
  if (!request.isMultipart()) throw new ListRefusedError(415, 'No file was sent: choose your list and send it again.');
  if (Number(request.headers['content-length'] ?? 0) > mostRequestBytes) throw tooLarge();
  const folder = await mkdtemp(join(tmpdir(), 'carillon-draft-'));
  try {
    const { name, fields, path } = await receive(request, folder);
    const reading = { delimiter: fields['list.delimiter'] || undefined, sheet: fields['list.sheet'] || undefined };
    const sample = await readListSample({ path, ...reading, rows: sampleRows }).catch((error: unknown) => {
      if (!(error instanceof ListFileError)) throw error;
      throw new ListRefusedError(422, `${printable(name)}: ${printable(error.reason)}.`, fields);
    });
    return await work({ name, sample, fields, content: createReadStream(path) });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function receive(request: FastifyRequest, folder: string): Promise<{ name: string; fields: DraftFields; path: string }> {
  const path = join(folder, 'list');
  const fields: Record<string, string> = {};
  let name: string | null = null;
  try {
    const limits = { fileSize: mostListBytes, files: 1, fields: 4, fieldSize: 1000 };
    for await (const part of readParts(request, limits)) {
      if (part.type === 'field') {
        if (['list.delimiter', 'list.sheet'].includes(part.fieldname)) fields[part.fieldname] = String(part.value);
        continue;
      }
      await keepFile(part, path);
      // Without a file chosen, a browser sends one without a name.
      name = part.filename || null;
    }
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    if (error.problem.status === 413) throw tooLarge();
    throw new ListRefusedError(400, 'The upload broke off before its end, and nothing was kept: send the list again.');
  }
  if (name === null) throw new ListRefusedError(422, 'No file was chosen: choose your list and send it again.', fields);
  return { name: plainName(name), fields, path };
}

function tooLarge(): ListRefusedError {
  const most = mostListBytes / 1_000_000;
  return new ListRefusedError(
    413,
    `The list is larger than ${most} MB, and nothing was kept. Start it with carillon start campaign.yaml, or send it to the API (POST /api/v1/campaigns).`,
  );
}

/** A name that a campaign file may give to the list beside it. */
function plainName(name: string): string {
  const plain = printable(name)
    .replace(/^.*[\\/]/, '')
    .replaceAll(/[:*?"<>|]/g, '-')
    .replace(/^[\s.]+/, '')
    .trim()
    .slice(-100);
  return plain === '' || plain.toLowerCase() === 'campaign.yaml' ? 'list.csv' : plain;
}
