import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { CampaignFile } from './file.ts';
import { describeFileError, ListFileError } from '../input/errors.ts';

/**
 * SHA-256, in hexadecimal, of what a campaign file says together with the bytes of its list: a changed list under the same id is
 * another campaign. Reads the list once, in pieces.
 * @throws ListFileError when the list cannot be read.
 */
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
