import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openCheckedLedger, runCheck } from '../../../../src/interfaces/cli/check/check.ts';
import { checkLaw } from '../../../../src/interfaces/cli/local/doctor-machine.ts';
import { readConfig } from '../../../../src/shared/config.ts';
import { minimalCampaign, writeCampaign } from '../../../list/campaign-folder.ts';
import { beginProven, noon, numbers } from '../../../ledger/scenario.ts';
import { dialects, emptyDatabase, openAt } from '../../../ledger/test-stores.ts';
import { buildRow, buildRules, hourMs } from '../../../support/campaign-rules.ts';
import { createTerminal } from '../terminal.ts';

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
  expect(on.stdout).toMatch(/^Law {7}rules as of 2026-11-24$/m);
  expect(on.law).toEqual({ rules: expect.any(Number), packagedAsOf: '2026-11-24', own: null, none: [] });
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
  expect(stdout).toContain(`Law       rules as of 2026-11-24
          ${path} as of 2026-01-01
          It replaces us-fl; adds us-ga.
`);
  expect(law).toMatchObject({ own: { path, asOf: '2026-01-01', replaced: ['us-fl'], added: ['us-ga'] } });
});

test('old rules are warned about by the clock of the check', async () => {
  const old = /^Warning: the rules by law that come with Carillon are as of 2026-11-24, more than 6 months ago/m;
  expect((await check('', { now: Date.UTC(2027, 4, 24) })).stderr).toMatch(old);
  expect((await check('', { now: Date.UTC(2027, 4, 23) })).stderr).not.toMatch(old);
  expect((await check('law: off\n', { now: Date.UTC(2027, 4, 24) })).stderr).not.toMatch(old);
});

test('check names the countries without a rule, when people there are called, and how to say otherwise', async () => {
  const list = 'phone\n+5511912345678\n+12125550101\n+5511912345679\n+81312345678\n';
  const told = async (law: string) => {
    const { campaignPath } = await writeCampaign(`${minimalCampaign}${law}`, list);
    const io = createTerminal({ now: () => monday, env: { CARILLON_DB: '/nowhere/carillon.db' } });
    await runCheck(io, { campaignPath, json: true, rowsPath: null });
    const { stdout, stderr } = io.written();
    return { stderr, withoutRule: (JSON.parse(stdout) as { withoutRule: unknown }).withoutRule };
  };
  const both = await told('');
  expect(both.stderr).toMatch(
    /^Warning: no rule by law is known for BR \(2 rows\), JP \(1 row\): nobody there is called outside of mon-fri 09:00-20:00 of their own time, nor on public holidays that are known there; name a file with a rule of your own under law, or law: \{ BR: none \} if the hours of the campaign are to hold alone there\.$/m,
  );
  expect(both.withoutRule).toEqual([
    { country: 'BR', rows: 2 },
    { country: 'JP', rows: 1 },
  ]);
  expect((await told('law: { BR: none }\n')).withoutRule).toEqual([{ country: 'JP', rows: 1 }]);
  expect(await told('law: off\n')).toMatchObject({
    stderr: expect.not.stringContaining('no rule by law'),
    withoutRule: [],
  });
});

test('check names the release of the time-zone data', async () => {
  expect((await check('')).stdout).toMatch(/^Clocks {4}time-zone data 20\d\d[a-z]+$/m);
});

test.each(dialects)('calls of another campaign count for the caps of the law where the row is (%s)', async (dialect) => {
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
    ...buildRow(index + 1, e164),
    line: index + 2,
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
});

test('carillon doctor names the date of the packaged rules, and warns when they are old', async () => {
  const name = 'Rules by law';
  const detail = expect.stringMatching(/^\d+ rules as of 2026-11-24$/);
  expect(await checkLaw(monday)).toEqual([{ name, status: 'ok', detail, advice: null }]);
  expect(await checkLaw(Date.UTC(2027, 4, 24))).toMatchObject([{ name, status: 'warning', detail }]);
});
