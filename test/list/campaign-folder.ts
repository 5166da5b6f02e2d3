import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { campaignRules, readCampaignFile } from '../../src/campaign/file/file.ts';
import { readHeader } from '../../src/campaign/file/columns-of-rules.ts';
import { readRecipients, type ListRow } from '../../src/list/recipients.ts';
import type { CampaignFile } from '../../src/campaign/file/campaign-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

export const minimalCampaign = `id: test
agent_id: agent_1
from_phone_number_id: pn_1
list: { file: list.csv, phone: phone }
hours: any
`;

export interface CampaignFolder {
  folder: string;
  campaignPath: string;
  listPath: string;
}

export async function writeCampaign(yaml: string | Uint8Array, list: string | Uint8Array): Promise<CampaignFolder> {
  const folder = temporaryFolder();
  const campaignPath = join(folder, 'campaign.yaml');
  const listPath = join(folder, 'list.csv');
  await writeFile(campaignPath, yaml);
  await writeFile(listPath, list);
  return { folder, campaignPath, listPath };
}

/** The campaign file and all judged rows of a list. */
export async function importList(
  yaml: string,
  list: string | Uint8Array,
): Promise<{ file: CampaignFile; columns: string[]; rows: ListRow[] }> {
  const { campaignPath } = await writeCampaign(yaml, list);
  const file = await readCampaignFile(campaignPath);
  const header = await readHeader(file);
  const rows: ListRow[] = [];
  for await (const chunk of readRecipients(file, header, campaignRules(file, header.columns, Date.UTC(2026, 0, 15)))) rows.push(...chunk);
  return { file, columns: header.columns, rows };
}

/** The message of what `work` throws. */
export async function messageOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
  throw new Error('nothing was thrown');
}
