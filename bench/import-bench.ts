import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runChild, say } from './child.ts';
import { writeImportCampaign } from './fictional-list.ts';
import type { Figure } from './report.ts';
import { campaignDefaults, targets } from './settings.ts';

interface ImportInput {
  campaignPath: string;
  /** `bare`: parse the file and drop the records. */
  kind: 'carillon' | 'bare';
}

interface ImportResult {
  rows: number;
  rejected: number;
  wallMs: number;
  /** Most memory that the process ever held, the runtime included. */
  peakMb: number;
}

/** The import of a list into a SQLite file, beside a loop that only parses the same file; each in a process of its own. */
export async function benchImport(rows: number): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
  try {
    say(`The import: writing a list of ${rows} rows`);
    const campaignPath = await writeImportCampaign(folder, campaignDefaults, rows);
    const run = (kind: ImportInput['kind']) => runChild<ImportResult>('import-process.mjs', { campaignPath, kind } satisfies ImportInput);
    say('The import: parsing alone');
    const bare = await run('bare');
    say('The import: reading, checking and storing');
    const carillon = await run('carillon');
    const perSecond = (result: ImportResult) => Math.round(result.rows / (result.wallMs / 1000));
    return [
      {
        name: 'import, rows per second',
        value: perSecond(carillon),
        unit: '',
        target: { atLeast: targets.importRowsPerSecond },
        note: `${carillon.rows} rows in ${(carillon.wallMs / 1000).toFixed(1)} s, ${carillon.rejected} rejected as duplicates`,
      },
      { name: 'bare csv-parse loop, rows per second', value: perSecond(bare), unit: '' },
      {
        name: 'import time / bare loop time',
        value: carillon.wallMs / bare.wallMs,
        unit: '',
        target: { atMost: targets.importRatio },
      },
      {
        name: 'import, peak memory',
        value: carillon.peakMb,
        unit: 'MB',
        target: { atMost: targets.importPeakMb },
        note: `bare loop ${bare.peakMb.toFixed(0)} MB; resident, the runtime included`,
      },
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
