import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { benchImport } from '../../../bench/import-bench.ts';
import { writeCallableCampaign } from '../../../bench/fictional-list.ts';
import { campaignDefaults } from '../../../bench/settings.ts';
import { campaignRules, readCampaignFile } from '../../../src/campaign/file/file.ts';
import { readHeader } from '../../../src/list/header.ts';
import { readRecipients } from '../../../src/list/recipients.ts';
import { windowAt } from '../../../src/rules/hours/calling-window.ts';

test('the campaign of the benchmark does not wait for the morning', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = await readCampaignFile(await writeCallableCampaign(folder, { ...campaignDefaults, recipients: 50 }));
  const header = await readHeader(file);
  // A Sunday, three o'clock in New York.
  const at = Date.parse('2026-11-22T08:00:00Z');
  const rules = campaignRules(file, header.columns, at);
  const calendars = [rules.calendar, ...rules.law];
  let rows = 0;
  for await (const chunk of readRecipients(file, header, rules)) {
    for (const { zones } of chunk) {
      rows += 1;
      expect(windowAt({ calendars, zones, at, marginMs: 0, endsAt: null }).open).toBe(true);
    }
  }
  expect(rows).toBe(50);
});

test('the import of the benchmark stores all rows of its list, each duplicate rejected', async () => {
  const figures = await benchImport(700);
  expect(figures.find(({ name }) => name === 'import, rows per second')?.note).toMatch(/^700 rows in .* s, 7 rejected as duplicates$/);
});
