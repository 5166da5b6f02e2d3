import { createWriteStream, openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { readCampaignFile, type CampaignFile } from '../../../campaign/file/file.ts';
import { readDraftList } from '../../../ledger/console/drafts.ts';
import type { Store } from '../../../ledger/open-ledger.ts';
import { campaignYaml } from './content.ts';
import type { OpenDraft } from './settings.ts';

/** A draft as the two files that `carillon start` takes, in a folder that is gone after the work. */
export interface DraftFiles {
  folder: string;
  /** Throws CampaignFileError. */
  read: () => Promise<CampaignFile>;
  /** Writes the campaign file beside the list and answers its path. */
  write: () => Promise<string>;
  /** As a form sends them to the API. */
  asForm: () => Promise<FormData>;
}

/** Writes the list of a draft out of the database and does the work beside it. */
export async function withDraftFiles<Answer>(
  store: Store,
  { draft, fields }: OpenDraft,
  work: (files: DraftFiles) => Promise<Answer>,
): Promise<Answer> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-draft-'));
  try {
    const { name } = draft.list;
    const path = join(folder, name);
    await pipeline(Readable.from(readDraftList(store, draft.list)), createWriteStream(path, { mode: 0o600 }));
    const text = campaignYaml(fields, name);
    return await work({
      folder,
      read: () => readCampaignFile(join(folder, 'campaign.yaml'), text),
      write: async () => {
        const written = join(folder, 'campaign.yaml');
        await writeFile(written, text, { mode: 0o600 });
        return written;
      },
      asForm: async () => {
        const form = new FormData();
        form.append('campaign', new Blob([text]), 'campaign.yaml');
        form.append('list', await openAsBlob(path), name);
        return form;
      },
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
