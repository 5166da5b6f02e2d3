import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { readCampaignFile } from '../../../src/campaign/file/file.ts';
import { checkCampaign, refuseUnstartable } from '../../../src/operations/control/check/check.ts';
import { checkedLedger } from '../../../src/operations/control/check/ledger.ts';
import { addToDoNotCall, checkDoNotCall } from '../../../src/operations/control/suppress.ts';
import { usualAssumptions } from '../../../src/campaign/preflight/campaign-forecast.ts';
import type { CheckedRow } from '../../../src/campaign/preflight/preflight.ts';
import { withLedgerAlone } from './ledger-control.ts';

function starter(): string {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-check-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(fileURLToPath(new URL('../../../examples/starter', import.meta.url)), folder, { recursive: true });
  return join(folder, 'campaign.yaml');
}

test('a check looks at a database that is open, leaves it open, and hands on every row with its verdict', () =>
  withLedgerAlone(async (control) => {
    const file = await readCampaignFile(starter());
    const look = { config: control.config, now: control.now(), file, assumptions: usualAssumptions };
    const seen: CheckedRow[] = [];
    const takeRows = async (rows: AsyncIterable<CheckedRow[]>): Promise<void> => {
      for await (const part of rows) seen.push(...part);
    };
    const alone = await checkCampaign({ ...look, openLedger: null, takeRows });
    refuseUnstartable(alone);
    expect(alone.report).toMatchObject({ rows: 5, ledger: { asked: false }, service: { asked: false } });
    const [first] = seen;
    expect(seen.map(({ excluded }) => excluded)).toEqual([null, null, null, null, null]);

    const number = first?.row.e164 ?? '';
    await addToDoNotCall(control, [number], { expiresAt: null });
    const checked = await checkCampaign({ ...look, openLedger: (campaign) => checkedLedger(control, campaign) });
    expect(checked.report).toMatchObject({
      ledger: { asked: true },
      dialable: alone.report.dialable - 1,
      exclusions: [{ reason: 'suppressed', count: 1 }],
    });
    expect(await checkDoNotCall(control, [number])).toMatchObject({ numbers: [{ suppressed: true }] });
  }));
