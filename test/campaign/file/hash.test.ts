import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { campaignHash, readCampaignFile } from '../../../src/campaign/file/file.ts';

async function hashOf(settings: string, list: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-hash-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'list.csv'), list);
  const base = 'id: a\nagent_id: x\nfrom_phone_number_id: y\nhours: any\n';
  writeFileSync(join(folder, 'campaign.yaml'), `${base}list: { file: list.csv, phone: phone }\n${settings}`);
  return campaignHash(await readCampaignFile(join(folder, 'campaign.yaml')));
}

test('the hash follows what the file says and every byte of the list, not where they stand', async () => {
  const hash = await hashOf('', 'phone\n+12125550101\n');
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(await hashOf('# a comment\n', 'phone\n+12125550101\n')).toBe(hash);
  expect(await hashOf('retry: { max_attempts: 2 }\n', 'phone\n+12125550101\n')).not.toBe(hash);
  expect(await hashOf('', 'phone\n+12125550101\r\n')).not.toBe(hash);
});
