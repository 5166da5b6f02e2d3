import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openCheckedLedger } from '../../src/cli/check-ledger.ts';
import { runCheck } from '../../src/cli/check.ts';
import { checkLaw } from '../../src/cli/doctor-law.ts';
import { readConfig } from '../../src/config.ts';
import { minimalCampaign, writeCampaign } from '../campaign/campaign-folder.ts';
import { beginProven, noon, numbers } from '../store/scenario.ts';
import { dialects, emptyDatabase, openAt } from '../store/test-stores.ts';
import { buildRules, hourMs } from '../support/campaign-rules.ts';
import { createTerminal } from './terminal.ts';

const monday = Date.UTC(2026, 0, 5, 15);

async function check(law: string, { now = monday, rules = '' } = {}) {
  const { campaignPath, folder } = await writeCampaign(`${minimalCampaign}${law}`, 'phone\n+12125550101\n');
  if (rules !== '') await writeFile(join(folder, 'my-rules.yaml'), rules);
  const run = async (json: boolean) => {
    const io = createTerminal({ now: () => now, env: { CARILLON_DB: '/nowhere/carillon.db' } });
    await runCheck(io, { campaignPath, json, rowsPath: null });
    return io.written();
  };
  const { stdout, stderr } = await run(false);
  const { campaign } = JSON.parse((await run(true)).stdout) as { campaign: { law: unknown } };
  return { stdout, stderr, law: campaign.law, folder };
}

test('the date of the packaged rules is told, and that they are off', async () => {
  const on = await check('');
  expect(on.stdout).toMatch(/^Law {7}rules as of 2025-11-01$/m);
  expect(on.law).toEqual({ rules: expect.any(Number), packagedAsOf: '2025-11-01', own: null });
  const off = await check('law: off\n');
  expect(off.stdout).toMatch(/^Law {7}off: calling hours and caps by law do not hold$/m);
  expect(off.law).toBeNull();
});

test("packaged rules that a file of one's own replaces are told by their ids", async () => {
  const rules = `as_of: 2026-01-01
rules:
  - { id: us-ga, country: US, region: GA, hours: { daily: '09:00-19:00' }, source: our counsel }
  - { id: us-fl, country: US, region: FL, hours: { daily: '08:00-21:00' }, source: our counsel }
`;
  const { stdout, law, folder } = await check('law: ./my-rules.yaml\n', { rules });
  const path = join(folder, 'my-rules.yaml');
  expect(stdout).toContain(`Law       rules as of 2025-11-01
          ${path} as of 2026-01-01
          It replaces us-fl; adds us-ga.
`);
  expect(law).toMatchObject({ own: { path, asOf: '2026-01-01', replaced: ['us-fl'], added: ['us-ga'] } });
});

test('old rules are warned about by the clock of the check', async () => {
  const old = /^Warning: the rules by law that come with Carillon are as of 2025-11-01, more than 18 months ago/m;
  expect((await check('', { now: Date.UTC(2027, 4, 1) })).stderr).toMatch(old);
  expect((await check('', { now: Date.UTC(2027, 3, 30) })).stderr).not.toMatch(old);
  expect((await check('law: off\n', { now: Date.UTC(2027, 4, 1) })).stderr).not.toMatch(old);
});

test.each(dialects)(
  'calls of another campaign count for the caps of the law where the row is (%s)',
  async (dialect) => {
    const location = await emptyDatabase(dialect);
    const spring = await beginProven(await openAt(location));
    await spring.dial(1);
    const dates = { hours: null, closedOn: [], from: null, until: null };
    const caps = [{ by: 'number' as const, calls: 1, withinMs: 24 * hourMs }];
    const law = [{ ...dates, id: 'us-fl-calls', country: 'US', region: 'FL', caps, source: 'test' }];
    const config = readConfig({ CARILLON_DB: location.sqlitePath, DATABASE_URL: location.databaseUrl });
    const at = noon + hourMs;
    const ledger = await openCheckedLedger(config, { campaignId: 'summer', rules: buildRules({ law }), at });
    onTestFinished(() => ledger.close());
    const regions = [['FL'], ['GA'], null];
    const rows = numbers(3).map((e164, index) => ({
      row: index + 1,
      line: index + 2,
      cells: [],
      verdict: 'accepted' as const,
      externalId: null,
      e164,
      zones: ['America/New_York'],
      country: 'US',
      regions: regions[index] ?? null,
      notBefore: null,
      expiresAt: null,
    }));
    const found = await ledger.look(rows);
    const allowed = rows.map(({ e164, country, regions: states }) =>
      found?.capsAllowAt({ e164, person: null, place: { country, regions: states } }),
    );
    // No record tells when they rang.
    const until = noon + 24 * hourMs + buildRules().timing.dispatchMarginMs;
    expect(allowed).toEqual([until, at, until]);
  },
);

test('carillon doctor names the date of the packaged rules, and warns when they are old', async () => {
  const name = 'Rules by law';
  const detail = expect.stringMatching(/^\d+ rules as of 2025-11-01$/);
  expect(await checkLaw(monday)).toEqual([{ name, status: 'ok', detail, advice: null }]);
  expect(await checkLaw(Date.UTC(2027, 4, 1))).toMatchObject([{ name, status: 'warning', detail }]);
});
